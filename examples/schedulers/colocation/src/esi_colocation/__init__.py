"""An external scheduler for ESI: measures jobs in pairs, then places each beside its best partner.

    records     what the interface shows, read strictly
    interface   REST: read, put notes, post and delete Schedulings; tries again while the server is away
    topics      STOMP over WebSocket: be told of changes
    own         the Schedulings of this program: names, slots, waiting, taking up again after a crash
    notes       the samples, kept in the jobs' own notes
    matrix      run times side by side, and what they say about pairs that were never measured
    profiler    which pairs to run next, and running them
    pairing     who is placed beside whom, and in which wave
    scheduler   a plan of waves, and running it
    main        the command line
"""
