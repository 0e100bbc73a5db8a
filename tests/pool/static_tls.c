/* A library that takes STATIC_TLS bytes of what a process has for thread-local variables that are
 * reached directly. */
static __thread char taken[STATIC_TLS] __attribute__((tls_model("initial-exec")));

char *static_tls(void);
char *static_tls(void)
{
	return taken;
}
