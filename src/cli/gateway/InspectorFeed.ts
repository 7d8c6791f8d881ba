/** The inspector's feed of a running gateway. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ItemView } from "../../contract/traffic/InspectorRecords.ts"
import type { Target } from "./Client.ts"
import * as Feed from "./Feed.ts"

const path = "/api/tools/traffic-inspector/ws"
const Frame = Schema.parseJson(
  Schema.Union(
    Schema.Struct({ type: Schema.Literal("snapshot"), data: Schema.Array(ItemView) }),
    Schema.Struct({ type: Schema.Literal("new", "update"), data: ItemView }),
    Schema.Struct({ type: Schema.Literal("clear"), data: Schema.Null }),
    Schema.Struct({
      type: Schema.Literal("behind"),
      data: Schema.Struct({ behindMs: Schema.Number, waiting: Schema.Number })
    })
  )
)
export type Frame = typeof Frame.Type

const decode = Schema.decodeUnknownOption(Frame)

export type InspectorMessage = Feed.FeedMessage<Frame>

/** Frames as they come, until the scope ends; `Closed`: none will follow. */
export const listen = (to: Target) =>
  Feed.listenTo<Frame>(to, { path, decode: (text) => Option.getOrNull(decode(text)) })
