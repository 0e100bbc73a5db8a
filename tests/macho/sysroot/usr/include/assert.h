#undef assert

#ifdef NDEBUG
#define assert(what) ((void)0)
#else
void __assert_rtn(const char *, const char *, int, const char *) __attribute__((noreturn));
#define assert(what) ((what) ? (void)0 : __assert_rtn(__func__, __FILE__, __LINE__, #what))
#endif

#define static_assert _Static_assert
