#!/bin/sh
# sees.sh PROGRAM [ARGUMENT...]: a program with a fault built in must find it, and say so.
said=$("$@")
status=$?
echo "$said"
case $status in
1) echo "$said" | grep -Eq '^([1-9][0-9]* of .* lost|stalled after )' ;;
77) exit 77 ;;
*) exit 1 ;;
esac
