"""Throughput of one striped TCP connection, from the congestion cycle that reordering causes.

Without loss a striped connection is deterministic: segments arrive in an order that the links'
rates and delays fix, the receiver answers with duplicate acknowledgements, and the third of them
halves the window though nothing is lost. From one fast retransmit to the next is a *congestion
cycle*, a map of a finite state; iterated, the state recurs, and from then on the connection
repeats itself. `recursion` is the map; here it is iterated until a state recurs, and the periods
after that are counted, not computed: a transfer costs its beginning, one period and its end,
however long it is. ``docs/striped-tcp.md`` derives it and says how near the simulator it is.

It holds for NewReno, with SACK or without, as long as nothing is lost: no random loss, queues that
hold what waits (see ``queue_bytes``), no retransmission timeout (see ``longest_silence_s``). Of
the paper [1]_ it keeps the setting: one connection, packets striped in turn, delayed
acknowledgements.

References
----------
.. [1] J. Song, P. Dong, H. Zhou, T. Zheng, X. Du, M. Guizani, "A Performance
   Analysis Model of TCP over Multiple Heterogeneous Paths for 5G Mobile Services", Sustainability
   10(5), 1337, 2018. doi:10.3390/su10051337
"""

from .cycle import Cycle, Transfer, rule_of_thumb, transfer

__all__ = ["Cycle", "Transfer", "rule_of_thumb", "transfer"]
