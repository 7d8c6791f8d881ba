/** `/api/attention`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { isoOrNull } from "../../entry/handling/Views.ts"
import type { AttentionItem } from "./entity.ts"
import { Attention as AttentionGroup, type AttentionView } from "./routes.ts"
import { Attention } from "./Attention.ts"

const viewOf = ({ changesAtMs, sinceMs, ...item }: AttentionItem): AttentionView => ({
  ...item,
  since: isoOrNull(sinceMs),
  changesAt: isoOrNull(changesAtMs)
})

export const layer = HttpApiBuilder.group(contractOf(AttentionGroup), "attention", (handlers) =>
  Effect.map(Attention, (attention) =>
    handlers.handle("list", () =>
      answered(Effect.map(attention.list, (items) => ({ items: items.map(viewOf), total: items.length })))
    )
  )
)
