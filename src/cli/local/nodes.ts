/** Providers that the operator added, straight from this machine's database. */
import * as Effect from "effect/Effect"
import type { CreateNode } from "../../subjects/nodes/routes.ts"
import { exclusivelyWithNodes } from "./localServices.ts"

/** Stores a provider of the operator's own. */
export const addNode = (input: CreateNode) =>
  exclusivelyWithNodes((room) =>
    Effect.flatMap(room.ProviderNodes, (nodes) => Effect.map(nodes.create(input), room.nodeView))
  )

/** Removes it and its connections. */
export const removeNode = (id: string) =>
  exclusivelyWithNodes((room) => Effect.flatMap(room.ProviderNodes, (nodes) => nodes.remove(id)))
