#!/bin/sh
# fuzz/run.sh BUILD SECONDS: the corpus, then random inputs for so long, on one core.  BUILD is a
# build folder with ROUSE_FUZZ.  Inputs that fail are kept in BUILD/fuzz/found and shown in words,
# new ones that do not in BUILD/fuzz/new.  The status is 0 if and only if none failed.
set -eu
if [ $# -ne 2 ]; then
	sed -n '2,4s/^# //p' "$0" >&2
	exit 2
fi
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
cd "$1/fuzz"
mkdir -p new found
touch started

# One input takes a millisecond; one that takes 10 s hangs.
timeout 120 ./fuzz_corpus "$corpus"
status=0
nice ./rouse_fuzz -max_total_time="$2" -max_len=400 -timeout=10 -rss_limit_mb=2048 \
	-print_final_stats=1 -artifact_prefix=found/ new "$corpus" >run.log 2>&1 || status=$?
grep 'cov: ' run.log | tail -n 1
grep -E '^stat::(number|average|new|peak)' run.log || :
[ "$status" -ne 0 ] || exit 0

find found -type f -newer started | while read -r input; do
	timeout 10 ./fuzz_corpus "$input" 2>&1 | tail -n 60 || :
done
echo "fuzz: failed; see above, $PWD/found and $PWD/run.log" >&2
exit 1
