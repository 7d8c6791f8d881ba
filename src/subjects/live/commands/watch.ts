/** `gateway watch`: what happens in the gateway, as it happens, over the live feed. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import { channels } from "../entity.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { listenTo } from "../../../cli/gateway/Feed.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import * as Output from "../../../cli/output/Output.ts"

const EventFrame = Schema.Struct({
  type: Schema.Literal("event"),
  channel: Schema.String,
  event: Schema.String,
  at: Schema.String,
  data: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  sampled: Schema.optionalWith(Schema.Number, { exact: true })
})
const DroppedFrame = Schema.Struct({ type: Schema.Literal("dropped"), count: Schema.Number })
const Frame = Schema.Union(EventFrame, DroppedFrame)
type Frame = typeof Frame.Type

/** Frames of other types are answers to this client. */
const decode = Schema.decodeUnknownOption(Schema.parseJson(Frame))

const columns = { time: 8, channel: 9, event: 18 } as const

const header = ["TIME".padEnd(columns.time), "CHANNEL".padEnd(columns.channel), "EVENT".padEnd(columns.event), "WHAT"]

const isShown = (value: unknown): value is string | number | boolean => value !== null && typeof value !== "object"

/** Writes the plain members of an event; lists and objects are for `--json`. */
const whatOf = (data: (typeof EventFrame.Type)["data"]): string =>
  Object.entries(data)
    .filter(([, value]) => isShown(value) && value !== "")
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(" ")

const lineOf = ({ at, channel, data, event, sampled = 1 }: typeof EventFrame.Type): string =>
  [
    at.slice(11, 19),
    channel.padEnd(columns.channel),
    event.padEnd(columns.event),
    `${whatOf(data)}${sampled > 1 ? ` (stands for ${sampled})` : ""}`
  ].join("  ")

const wanted = Args.choice(
  channels.map((channel) => [channel, channel] as const),
  { name: "channel" }
).pipe(Args.withDescription(`What to show: ${channels.join(", ")}; without any, all of them.`), Args.repeated)

const most = Options.integer("events").pipe(
  Options.withDescription("End after so many events."),
  Options.withSchema(Schema.Int.pipe(Schema.between(1, 1_000_000))),
  Options.optional
)

export const watch = Command.make("watch", { channels: wanted, events: most, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const format = yield* OutputFormat
    const isJson = format === "json" || format === "jsonl"
    const chosen = given.channels.length === 0 ? channels : [...new Set(given.channels)]
    const queue = yield* listenTo<Frame>(to, {
      path: "/api/live",
      decode: (text) => Option.getOrNull(decode(text)),
      firstFrame: JSON.stringify({ type: "subscribe", channels: chosen })
    })
    if (!isJson) yield* Output.print(header.join("  "))
    const show = (frame: Frame): Effect.Effect<void> => {
      if (isJson) return Output.jsonLine(Frame, frame)
      return frame.type === "event"
        ? Output.print(lineOf(frame))
        : Output.note(`${frame.count} events were left out: this terminal reads too slowly.`)
    }
    let left = Option.getOrElse(given.events, () => Number.POSITIVE_INFINITY)
    while (left > 0) {
      const told = yield* Queue.take(queue)
      if (told._tag === "Closed") return yield* Effect.fail<CliFailure>(told.failure)
      const { frame } = told
      // All channels are told until the gateway has read the choice.
      if (frame.type === "event" && !chosen.some((channel) => channel === frame.channel)) continue
      yield* show(frame)
      if (frame.type === "event") left -= 1
    }
  }).pipe(Effect.scoped)
)
