"""Throughput of one striped TCP connection, from the congestion cycle that reordering causes.

Without loss a striped connection is deterministic: rates and delays of the links fix the order of
arrival, the receiver sends duplicate acknowledgements, and the third one halves the window
although nothing is lost. A *congestion cycle*, from one fast retransmit to the next, is a map of a
finite state. `recursion` is the map. Here it is iterated until a state recurs; the periods after
that are counted, not computed. See ``docs/striped-tcp.md`` for the derivation and the accuracy.

It holds for NewReno, with SACK or without, if nothing is lost: no random loss, long enough queues
(see ``queue_bytes``), no retransmission timeout (see ``longest_silence_s``). The setting is the
paper's [1]_: one connection, packets striped in turn, delayed acknowledgements.

References
----------
.. [1] J. Song, P. Dong, H. Zhou, T. Zheng, X. Du, M. Guizani, "A Performance
   Analysis Model of TCP over Multiple Heterogeneous Paths for 5G Mobile Services", Sustainability
   10(5), 1337, 2018. doi:10.3390/su10051337
"""

from .cycle import Cycle, Transfer, rule_of_thumb, transfer

__all__ = ["Cycle", "Transfer", "rule_of_thumb", "transfer"]
