/** `/api/provider-nodes`: endpoints the operator added. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { ProviderNodes as ProviderNodesGroup } from "./routes.ts"
import type { ProviderNode } from "./entity.ts"
import { ProviderNodes } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { nodeView } from "../../entry/handling/Views.ts"

const viewed = (node: ProviderNode) => ({ node: nodeView(node) })

export const layer = HttpApiBuilder.group(contractOf(ProviderNodesGroup), "providerNodes", (handlers) =>
  Effect.map(ProviderNodes, (nodes) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(nodes.list, (all) => paged(all, ({ id }) => id)),
          ({ items, nextCursor, total }) => ({ nodes: items.map(nodeView), nextCursor, total })
        )
      )
      .handle("get", ({ path }) => answered(Effect.map(nodes.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(nodes.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(nodes.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(nodes.remove(path.id)))
  )
)
