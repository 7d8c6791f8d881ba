/**
 * Calls of a plugin to the gateway for anything beyond its own memory. The permission is checked here too, regardless
 * of the thread's check.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { PluginPermission } from "../../../../subjects/plugins/entity.ts"
import { isObject, type Json, type JsonObject } from "../../../../wire/json/Json.ts"
import { readAnswerJson } from "../../../../wire/json/Bounds.ts"
import type { HostAnswer, HostOperation } from "../thread/Protocol.ts"

/** Error that the plugin's code sees. */
export class HostRefusal extends Data.TaggedError("HostRefusal")<{
  readonly message: string
  readonly code: string | null
  readonly type: "Error" | "TypeError"
}> {}

export const refusal = (message: string, code: string | null = null, type: "Error" | "TypeError" = "Error") =>
  new HostRefusal({ message, code, type })

export interface HostResult {
  readonly value: Json
  readonly blob: Uint8Array | null
}

export type HostOperations = {
  readonly [Operation in HostOperation]?: (args: JsonObject) => Effect.Effect<HostResult, HostRefusal>
}

const permissionOf: Readonly<Record<HostOperation, PluginPermission>> = {
  fetch: "network",
  "fs.readFile": "file-read",
  "fs.readdir": "file-read",
  "fs.stat": "file-read",
  "fs.writeFile": "file-write",
  "fs.mkdir": "file-write",
  "fs.rm": "file-write",
  exec: "exec"
}

const isOperation = (name: string): name is HostOperation => Object.hasOwn(permissionOf, name)

const failed = ({ code, message, type }: Pick<HostRefusal, "code" | "message" | "type">): HostAnswer => ({
  isDone: false,
  text: JSON.stringify({ code, message, type }),
  blob: null
})

/** Makes the handler of calls. Never fails: an error is an answer. */
export const makeHostCalls =
  (permissions: ReadonlySet<PluginPermission>, operations: HostOperations) =>
  (name: string, argsText: string): Effect.Effect<HostAnswer> =>
    Effect.suspend(() => {
      const operation = isOperation(name) ? operations[name] : undefined
      if (!isOperation(name) || operation === undefined || !permissions.has(permissionOf[name])) {
        return Effect.succeed(failed(refusal("The plugin has no permission for this", "EACCES")))
      }
      const args = readAnswerJson(argsText)
      if (!isObject(args)) return Effect.succeed(failed(refusal("The arguments cannot be read", "EINVAL", "TypeError")))
      return operation(args as JsonObject).pipe(
        Effect.map(({ blob, value }): HostAnswer => ({ isDone: true, text: JSON.stringify(value), blob })),
        Effect.catchTag("HostRefusal", (problem) => Effect.succeed(failed(problem))),
        // What is not foreseen must not reach the plugin, which could read the machine's paths in it.
        Effect.catchAllCause((cause) =>
          Effect.as(
            Effect.logWarning("A call of a plugin failed", cause),
            failed(refusal("It could not be done", "EIO"))
          )
        )
      )
    })
