"""An external scheduler for ESI: measures jobs in pairs, then places each beside its best partner.

    records     testbeds, jobs and Schedulings, as the program works with them
    v1          /api/v1, over the package esi_client
    interface   the original's REST interface (--legacy); tries again while the server is away
    topics      the original's topics, STOMP over WebSocket (--legacy)
    own         the Schedulings of this program: names, slots, waiting, taking up again after a crash
    notes       the samples, kept in the jobs' own notes
    matrix      run times side by side, and what they say about pairs that were never measured
    profiler    which pairs to run next, and running them
    pairing     who is placed beside whom, and in which wave
    scheduler   a plan of waves, and running it
    main        the command line
"""
