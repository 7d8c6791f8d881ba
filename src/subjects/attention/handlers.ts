/** `/api/attention`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { asJson, entriesAnswer } from "../../entry/handling/Lists.ts"
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
      Effect.flatMap(answered(attention.list), (items) =>
        entriesAnswer("items", items, asJson(viewOf), { total: items.length })
      )
    )
  )
)
