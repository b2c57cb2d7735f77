"""Segments of a NewReno sender, and their times: equations (4) to (8)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from .parameters import DUP_THRESH, Blocks, Parameters


@dataclass
class Prr:
    """Counters of proportional rate reduction in a recovery, in segments (RFC 6937)."""

    flight: int = 0
    delivered: int = 0
    out: int = 0


class Sender:
    """NewReno (RFC 5681) with the recovery of RFC 6582, or of RFC 6675 with SACK: (4) to (8)."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.cwnd = parameters.initial_window
        self.ssthresh = parameters.ssthresh
        self.una = 0
        self.nxt = 0
        self.sacked: set[int] = set()
        self.lost: set[int] = set()
        self.again: set[int] = set()
        self.duplicates = 0
        self.recovering = False
        self.recover = 0
        self.before = 0
        self.forced = False
        self.counted = 0
        self.held_by_cwnd = False
        self.prr = Prr()
        self.recoveries = 0
        self.retransmissions = 0
        self.acknowledged_at = 0
        self.longest_silence = 0

    @property
    def outstanding(self) -> int:
        """Segments sent and not acknowledged cumulatively."""
        return self.nxt - self.una

    @property
    def sacked_segments(self) -> int:
        """Segments that were acknowledged out of order."""
        if self.parameters.sack:
            return len(self.sacked)
        return min(self.duplicates, max(self.outstanding - 1, 0))

    @property
    def pipe(self) -> int:
        """Segments thought to be in the network (RFC 6675, section 4): equation (4)."""
        pipe = self.outstanding - len(self.lost) + len(self.again) - self.sacked_segments
        if not self.recovering and not self.parameters.limited_transmit:
            pipe += self.sacked_segments
        return pipe

    def next_segment(self, total: int) -> int | None:
        """Return the next segment to send, the lowest lost one first: equation (5)."""
        room = self.cwnd >= (self.pipe + 1) * self.parameters.segment
        if self.recovering and (room or self.forced):
            waiting = self.lost - self.again
            if waiting:
                segment = min(waiting)
                self.again.add(segment)
                self.forced = False
                self.retransmissions += 1
                self.prr.out += 1
                return segment
        open_window = self.outstanding < self.parameters.window_segments and self.nxt < total
        self.held_by_cwnd = open_window and not room
        if open_window and room:
            self.nxt += 1
            self.prr.out += 1
            return self.nxt - 1
        return None

    def on_ack(self, now: int, ack: int, blocks: Blocks) -> None:
        """Process an acknowledgement up to `ack` with its SACK option."""
        if ack < self.una:
            return
        self.longest_silence = max(self.longest_silence, now - self.acknowledged_at)
        self.acknowledged_at = now
        advanced = ack - self.una
        fresh = self._acknowledge(ack) if advanced else 0
        sack = self.parameters.sack
        if sack:
            newly_sacked = self._selective_acknowledge(blocks)
            duplicate = newly_sacked > 0
        else:
            newly_sacked = 0
            duplicate = not advanced and self.outstanding > 0
        if advanced:
            # Without SACK a partial acknowledgement covers one retransmission, and segments
            # already counted by duplicate acknowledgements.
            kept = self.recovering and not sack
            self.duplicates = max(self.duplicates - (advanced - 1), 0) if kept else 0
        self.duplicates += duplicate
        if not self.recovering:
            if duplicate and self._signals_loss():
                self._enter_recovery()
            elif advanced and (not duplicate or self.parameters.grow_in_disorder):
                # RFC 3465, 2.1, unless selective acknowledgements opened the window before.
                counted = fresh + newly_sacked if self.parameters.grow_in_disorder else advanced
                self._grow(counted * self.parameters.segment)
        elif ack >= self.recover:
            self._leave_recovery()
        elif sack:
            self._detect_losses()
        elif advanced:
            # RFC 6582, 3.2, step 3: a partial acknowledgement reveals the next loss.
            self._mark_first_lost()
            self.forced = True
        if self.recovering and self.parameters.prr:
            self._reduce(fresh + newly_sacked if sack else max(advanced, 1), advanced > 0)

    def _acknowledge(self, ack: int) -> int:
        covered = range(self.una, ack)
        fresh = sum(segment not in self.sacked for segment in covered)
        for known in (self.sacked, self.lost, self.again):
            known.difference_update(covered)
        self.before, self.una = self.una, ack
        return fresh

    def _selective_acknowledge(self, blocks: Blocks) -> int:
        reported = set().union(*blocks)
        new = {one for one in reported if one >= self.una} - self.sacked if reported else reported
        self.sacked |= new
        self.lost -= new
        self.again -= new
        return len(new)

    def _signals_loss(self) -> bool:
        if self.parameters.sack:
            return self._detect_losses() or self.duplicates >= DUP_THRESH
        # RFC 6582, 3.2, step 1, with the heuristic of its 4.1.
        believed = self.una > self.recover or (
            self.cwnd > self.parameters.segment and self.una - self.before <= 4
        )
        return self.duplicates == DUP_THRESH and believed

    def _detect_losses(self) -> bool:
        """Mark segments lost by IsLost() of RFC 6675; return whether any is new."""
        if len(self.sacked) < DUP_THRESH:
            return False
        third = sorted(self.sacked)[-DUP_THRESH]
        new = set(range(self.una, third)) - self.sacked - self.lost
        self.lost |= new
        return bool(new)

    def _mark_first_lost(self) -> None:
        self.lost.add(self.una)
        self.again.discard(self.una)

    def _enter_recovery(self) -> None:
        self.recoveries += 1
        self._mark_first_lost()
        segment = self.parameters.segment
        flight = (self.pipe if self.parameters.halve_pipe else self.outstanding) * segment
        self.ssthresh = max(min(flight, self.cwnd) // 2, 2 * segment)
        if not self.parameters.prr:
            self.cwnd = self.ssthresh
        self.counted = 0
        self.recovering = True
        self.recover = self.nxt
        self.forced = True
        self.prr = Prr(flight=self.outstanding)

    def _reduce(self, delivered: int, progress: bool) -> None:
        """Send in proportion to the delivered data (RFC 6937, section 3): equation (7)."""
        prr, segment, pipe = self.prr, self.parameters.segment, self.pipe * self.parameters.segment
        prr.delivered += delivered
        if pipe > self.ssthresh:
            sent = prr.out * segment
            share = -(-prr.delivered * segment * self.ssthresh // (max(prr.flight, 1) * segment))
            room = max(share - sent, 0)
        else:
            limit = max(prr.delivered - prr.out, delivered) + progress
            room = min(self.ssthresh - pipe, limit * segment)
        self.cwnd = pipe + room

    def _leave_recovery(self) -> None:
        self.recovering = False
        self.duplicates = 0
        self.cwnd = self.ssthresh
        if not self.parameters.sack:
            # RFC 6582, 3.2, step 3, option 1.
            ceiling = (max(self.outstanding, 1) + 1) * self.parameters.segment
            self.cwnd = min(self.cwnd, ceiling)

    def _grow(self, acked: int) -> None:
        """Grow the window (RFC 5681, 3.1, equations 2 and 3, or RFC 3465): equation (8)."""
        segment = self.parameters.segment
        slow_start = self.cwnd < self.ssthresh
        if not self.held_by_cwnd and not (slow_start and self.cwnd < 2 * self.pipe * segment):
            return
        if slow_start:
            if not self.parameters.byte_counting:
                self.cwnd += min(acked, segment)
                return
            used = min(acked, self.ssthresh - self.cwnd)
            self.cwnd += used
            acked -= used
        if not self.parameters.byte_counting:
            self.cwnd += max(segment * segment // self.cwnd, 1)
            return
        self.counted = min(self.counted, self.cwnd) + acked
        while self.counted >= self.cwnd:
            self.counted -= self.cwnd
            self.cwnd += segment

    def state(self) -> Hashable:
        """Return the state that determines later sending, relative to the first unacknowledged."""
        marks = (self.sacked, self.lost, self.again)
        return (
            self.cwnd,
            self.ssthresh,
            self.outstanding,
            self.duplicates,
            self.recovering,
            self.recover - self.una,
            self.una - self.before,
            self.forced,
            self.counted,
            self.held_by_cwnd,
            (self.prr.flight, self.prr.delivered, self.prr.out) if self.recovering else None,
            *(tuple(sorted(segment - self.una for segment in mark)) for mark in marks),
        )
