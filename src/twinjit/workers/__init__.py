"""Compiling in processes of our own, which may end where the user's must not.

``zygote`` is a process with the compiler loaded and one thread, which forks workers; ``worker`` is
what runs in them; ``zygote_process`` and ``worker_process`` are how they are started, spoken to and
ended from here, ``pool`` lends them to threads, and ``builder`` makes a compiler use them.
``messages`` and ``protocol`` say how they talk.
"""
