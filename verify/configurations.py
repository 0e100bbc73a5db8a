"""What run.py verifies: each configuration must hold, each mutant must fail.

Without more, two producers do one operation each, a turn runs one thing of the queue (BUDGET), and
in a guest one turn nests (DEPTH).  With -DSTAY the producers keep their references, which lets
everything else be seen further."""

CONFIGURATIONS = [
    # The loop waits itself.
    {"name": "unhosted", "quick": True, "flags": "-DHOST=0 -DWAKES -DPOSTS -DCLOSES -DLOOP_WAKES=1"},
    {"name": "unhosted-wakes", "quick": True, "flags": "-DHOST=0 -DOPS=2 -DWAKES -DCLOSES"},
    {"name": "unhosted-posts", "quick": True, "flags": "-DHOST=0 -DOPS=2 -DPOSTS"},
    {"name": "unhosted-stops", "quick": True, "flags": "-DHOST=0 -DOPS=2 -DSTOPS"},
    {"name": "unhosted-calls", "quick": True, "flags": "-DHOST=0 -DWAKES -DCALLS -DSTOPS"},
    {"name": "unhosted-level", "quick": True, "flags": "-DHOST=0 -DLEVEL -DWAKES -DPOSTS"},
    {"name": "unhosted-full", "quick": True, "flags": "-DHOST=0 -DFULL -DWAKES -DPOSTS"},
    # A host watches the descriptor.
    {"name": "descriptor", "quick": True, "flags": "-DHOST=1 -DWAKES -DPOSTS"},
    {"name": "descriptor-budget", "quick": True, "flags": "-DHOST=1 -DBUDGET=2 -DWAKES -DPOSTS"},
    {"name": "descriptor-hook", "quick": True, "flags": "-DHOST=1 -DHOOK -DWAKES -DLOOP_WAKES=1"},
    {"name": "descriptor-deep", "quick": True, "flags": "-DHOST=1 -DDEPTH=2 -DWAKES -DPOSTS"},
    {"name": "descriptor-stops", "quick": True, "flags": "-DHOST=1 -DSTOPS -DWAKES -DCLOSES"},
    {"name": "descriptor-level", "quick": True, "flags": "-DHOST=1 -DLEVEL -DWAKES -DPOSTS"},
    {"name": "descriptor-full", "quick": True, "flags": "-DHOST=1 -DFULL -DWAKES -DPOSTS"},
    # A host asks for the deadline before each of its waits.
    {"name": "bracket", "quick": True, "flags": "-DHOST=2 -DWAKES -DPOSTS -DCLOSES"},
    {"name": "bracket-budget", "quick": True,
     "flags": "-DHOST=2 -DBUDGET=2 -DWAKES -DPOSTS -DLOOP_WAKES=1"},

    # Three faults that only the buffers show: without them these must hold.
    {"name": "sc-relaxed-look", "quick": True,
     "flags": "-DSC -DHOST=0 -DOPS=2 -DWAKES -DMUTANT_RELAXED_LOOK"},
    {"name": "sc-clear-store", "quick": True,
     "flags": "-DSC -DHOST=0 -DOPS=2 -DSTAY -DWAKES -DMUTANT_CLEAR_STORE"},
    {"name": "sc-free-store", "quick": True,
     "flags": "-DSC -DHOST=0 -DOPS=2 -DSTOPS -DMUTANT_FREE_STORE"},

    # Further, and with three producers.
    {"name": "three-unhosted", "flags": "-DHOST=0 -DPRODUCERS=3 -DSTAY -DWAKES -DPOSTS",
     "megabytes": 4000},
    {"name": "three-descriptor", "flags": "-DHOST=1 -DPRODUCERS=3 -DSTAY -DPOSTS",
     "megabytes": 4000},
    {"name": "three-bracket", "flags": "-DHOST=2 -DPRODUCERS=3 -DSTAY -DPOSTS",
     "megabytes": 4000},
    {"name": "three-leaving", "flags": "-DHOST=0 -DPRODUCERS=3 -DWAKES", "megabytes": 4000},
    {"name": "descriptor-posts", "flags": "-DHOST=1 -DOPS=2 -DSTAY -DPOSTS", "megabytes": 4000},
    {"name": "descriptor-wakes", "flags": "-DHOST=1 -DOPS=2 -DSTAY -DWAKES", "megabytes": 4000},
    {"name": "unhosted-both", "flags": "-DHOST=0 -DOPS=2 -DSTAY -DWAKES -DPOSTS",
     "megabytes": 4000},
    {"name": "three-descriptor-both", "flags": "-DHOST=1 -DPRODUCERS=3 -DSTAY -DWAKES -DPOSTS",
     "bits": 31, "megabytes": 2000},
]

WAKES = "-DHOST=0 -DOPS=2 -DWAKES"
STAYS = WAKES + " -DSTAY"
POSTS = "-DHOST=0 -DPOSTS"
STOPS = "-DHOST=0 -DOPS=2 -DSTOPS"
GUEST = "-DHOST=1 -DPOSTS"

# (name, on which configuration, what it does)
MUTANTS = [
    # Producers.
    ("RELAXED_LOOK", STAYS, "a wake looks first, and returns if one is pending"),
    ("EXCHANGE", WAKES + " -DCLOSES", "a wake exchanges the bits for PENDING"),
    ("NO_CLOSED_WAKE", WAKES + " -DCLOSES", "already pending does not look at CLOSED"),
    ("NO_CLOSED_PUSH", POSTS, "a push does not look at CLOSED"),
    ("NO_QUEUE_REF", WAKES, "the queue holds no reference of the waker"),
    ("NO_LAST_RUN", WAKES, "the last user does not queue the waker once more"),
    ("RING_FIRST", POSTS, "the ring comes before the exchange"),
    ("NO_RING", POSTS, "nobody rings"),
    ("ALWAYS_RING", POSTS, "each push rings"),
    ("NO_FULL", "-DHOST=0 -DOPS=2 -DFULL -DPOSTS", "a full doorbell is left full"),
    # The loop.
    ("DOZE_STORE", POSTS, "going to sleep looks, then stores ASLEEP"),
    ("NO_DOZE", POSTS, "going to sleep does not say so"),
    ("TAKE_STORE", POSTS, "taking loads, then stores EMPTY"),
    ("LEFT_OVER_BLOCKS", POSTS, "the wait blocks in spite of what was left over"),
    ("CLEAR_FIRST", "-DHOST=0 -DWAKES -DPOSTS", "PENDING is cleared before the link is read"),
    ("CLEAR_LATE", STAYS, "PENDING is cleared after the callback"),
    ("CLEAR_STORE", STAYS, "PENDING is cleared by a load and a store"),
    ("FREE_STORE", STOPS, "a stop's node is marked free by a plain store"),
    ("CLOSE_LATE", POSTS, "the queue is closed after what it held was cancelled"),
    ("TAKE_CLOSED", POSTS, "a cancel function takes from the closed queue"),
    ("FREE_AT_DESTROY", POSTS, "destroying frees the shared part"),
    # Guests.
    ("TAKE_EMPTY", GUEST, "a hosted loop takes by EMPTY"),
    ("GUEST_NO_RING", GUEST, "becoming a guest does not ring"),
    ("NO_RING_BEFORE", GUEST, "no ring before callbacks: a nested loop sleeps on what is left"),
    ("NO_SELF_RING", GUEST + " -DDEPTH=0", "no ring for work left over"),
    ("NO_LOOK_BACK", GUEST + " -DHOOK", "taking a ring back does not look at the queue"),
    ("NO_AGAIN", "-DHOST=1 -DOPS=2 -DWAKES -DSTAY", "a wake in a nested turn is forgotten"),
    ("RUN_NESTED", "-DHOST=1 -DOPS=2 -DWAKES -DSTAY", "a callback is called inside itself"),
    ("ABSORB_LATE", GUEST + " -DLEVEL", "the doorbell is absorbed after the queue was taken"),
]
