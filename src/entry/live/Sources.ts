/** Sources of the feed: it listens only to what a subscriber wants. Without one, nothing is made of any event, and requests read one boolean. */
import type * as Events from "../../observe/Events.ts"
import type { UsageJournal } from "../../store/usage/UsageJournal.ts"
import type { RunningRequests } from "../../plane/request/RunningRequests.ts"
import { type Channel, type LiveEvent, ofEvent, ofProgress, ofRequest, statsEvent } from "./Channels.ts"
import { makeSampler } from "./Sampler.ts"
import { makeStats } from "./Stats.ts"

export interface SourcesOptions {
  readonly events: Pick<typeof Events.Events.Service, "listen" | "listenToRequests" | "wantAttention">
  /** Every row of the usage log goes through it. */
  readonly journal: Pick<typeof UsageJournal.Service, "listen">
  readonly running: Pick<typeof RunningRequests.Service, "count" | "listen" | "started">
  readonly nowMs: () => number
  readonly send: (event: LiveEvent, sampled?: number) => void
}

export interface Sources {
  /** Listens to what these channels need, and to nothing else. */
  readonly listen: (wanted: ReadonlySet<Channel>) => void
  /** A second is over. */
  readonly turn: () => void
}

const nobody: ReadonlySet<Channel> = new Set()

export const makeSources = ({ events, journal, nowMs, running, send }: SourcesOptions): Sources => {
  const sampler = makeSampler()
  const stats = makeStats()
  const gauges = () => ({ inflight: running.count(), started: running.started() })
  let wanted = nobody
  let stops: ReadonlyArray<() => void> = []

  const offer = (channel: Channel, event: string, make: () => LiveEvent): void => {
    if (sampler.admit(channel, event, make)) send(make())
  }

  const listenTo = (channels: ReadonlySet<Channel>): ReadonlyArray<() => void> => {
    const ofRequests = channels.has("requests")
    const ofStats = channels.has("stats")
    const started: Array<() => void> = []
    if ([...channels].some((channel) => channel !== "requests" && channel !== "stats")) {
      started.push(
        events.listen((event) => {
          const made = ofEvent(event)
          if (made !== null && channels.has(made.channel)) offer(made.channel, made.event, () => made)
        })
      )
    }
    if (ofStats) started.push(journal.listen(stats.add))
    if (ofRequests) {
      started.push(events.listenToRequests((row) => offer("requests", row.outcome, () => ofRequest(row))))
      started.push(running.listen((event) => offer("requests", event.type, () => ofProgress(event))))
    }
    return started
  }

  return {
    listen: (channels) => {
      for (const stop of stops) stop()
      if (channels.has("stats") && !wanted.has("stats")) stats.begin(gauges())
      wanted = channels
      events.wantAttention(channels.has("attention"))
      stops = listenTo(channels)
      // What was held for subscribers that have left is dropped.
      if (channels.size === 0) while (sampler.turn().length > 0);
    },
    turn: () => {
      for (const { event, sampled } of sampler.turn()) send(event, sampled)
      if (wanted.has("stats")) send(statsEvent(stats.take(gauges()), nowMs()))
    }
  }
}
