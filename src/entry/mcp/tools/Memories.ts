/** Tools about memories. A key that does not manage the gateway sees and changes its own only. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"
import { apiKeyIdOf, type Caller, isManager } from "../../../agents/mcp/Caller.ts"
import { failed, type Tool, type ToolCall } from "../../../agents/mcp/Tool.ts"
import { isArray, type JsonObject, objectOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { type EndpointTool, endpointTool } from "../EndpointTool.ts"
import { askedOf, optional, schemaTool, ToolFailure } from "../SchemaTool.ts"

/** The key whose memories a call is about: a manager names it, or null; all others have their own. */
const ownerOf = (caller: Caller, asked: unknown): string | null =>
  isManager(caller) ? (typeof asked === "string" ? asked : null) : (apiKeyIdOf(caller) ?? "none")

const notOwn = "This key may use its own memories only."

/** The endpoint's tool, for the memories that the caller may see. */
const owned = (ask: Plane["ask"], about: EndpointTool): Tool => {
  const tool = endpointTool(ask, about)
  return {
    ...tool,
    call: (input: JsonObject, call: ToolCall) => {
      const asked = input["apiKeyId"] ?? null
      const owner = ownerOf(call.caller, asked)
      if (asked !== null && asked !== owner) return Effect.succeed(failed(notOwn))
      return tool.call(owner === null ? input : { ...input, apiKeyId: owner }, call)
    }
  }
}

const Text = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(512))

/** Memories that one call removes. */
const mostRemoved = 1_000

const clear = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "memory_clear",
    title: "Forget memories",
    description: `Removes the memories of an API key, or those of a type or session of it; at most ${mostRemoved} in one call. They cannot be had again.`,
    scopes: ["write:memory"],
    effect: "destroy",
    input: Schema.Struct({
      apiKeyId: field(
        optional(Text),
        "Whose; `none`: of callers without a key. Needed from administrators; others have their own."
      ),
      type: field(optional(Text), "Only those of this type."),
      sessionId: field(optional(Text), "Only those of this session.")
    }),
    output: Schema.Struct({ removed: field(Schema.Number, "Memories that were removed.") }),
    run: ({ apiKeyId, ...rest }, call) =>
      Effect.gen(function* () {
        const owner = ownerOf(call.caller, apiKeyId)
        if (owner === null) return yield* new ToolFailure({ message: "'apiKeyId' is missing.", isBadInput: true })
        if (apiKeyId !== undefined && apiKeyId !== owner) return yield* new ToolFailure({ message: notOwn })
        const get = askedOf(ask, call)
        const { memories } = yield* get("memory.list", {
          query: { ...rest, apiKeyId: owner, limit: String(mostRemoved) }
        })
        const ids = isArray(memories) ? memories.map((one) => String(objectOr(one)["id"])) : []
        yield* Effect.forEach(ids, (id) => get("memory.remove", { path: { id } }), { discard: true })
        return { removed: ids.length }
      })
  })

export const memoryTools = (ask: Plane["ask"]): ReadonlyArray<Tool> => [
  owned(ask, {
    name: "memory_search",
    endpoint: "memory.list",
    scopes: ["read:memory"],
    effect: "read",
    defaults: { limit: 50 }
  }),
  owned(ask, { name: "memory_add", endpoint: "memory.create", scopes: ["write:memory"], effect: "write" }),
  clear(ask)
]
