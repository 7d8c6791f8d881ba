/** One call of a plugin with made-up values, for its author: what `plugin test` and the test route do in a sandbox of its own. */
import * as Effect from "effect/Effect"
import { operatorsOwn } from "../../../contract/domain/ContentPermission.ts"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import { LifecycleHook, type PluginHook, pluginHooks, RequestHook } from "../../../subjects/plugins/entity.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import { isObject, type JsonObject, objectOr } from "../../../wire/json/Json.ts"
import { eventOf, type HookCall, type HookContext, type HookOutcome } from "../hooks/Listener.ts"
import type { OpenSandbox } from "../sandbox/Sandbox.ts"

export interface TestInput {
  readonly hook: PluginHook
  /** Members of the context that matter; the rest is made up. */
  readonly context: JsonObject
  readonly payload: JsonObject
}

export interface TestResult {
  readonly action: "none" | "modified" | "blocked" | "failed"
  /** The body it made, the answer it blocked with, or why it failed; null: none of these. */
  readonly result: unknown
  /** Metadata that it added to the request; null: none. */
  readonly metadata: JsonObject | null
  readonly ms: number
}

const isLifecycle = (hook: PluginHook): hook is LifecycleHook => LifecycleHook.literals.some((each) => each === hook)
const isRequest = (hook: PluginHook): hook is RequestHook => RequestHook.literals.some((each) => each === hook)

/** Reads a test, or lists its problems. */
export const readTest = (
  value: unknown
): { readonly input: TestInput } | { readonly problems: ReadonlyArray<FieldProblem> } => {
  const given = objectOr(value)
  const problems: Array<FieldProblem> = []
  const hook = pluginHooks.find((each) => each === given["hook"])
  if (hook === undefined) problems.push({ field: "hook", message: "must be the name of an event, such as onRequest" })
  for (const name of ["context", "payload"]) {
    const member = given[name]
    if (member !== undefined && member !== null && !isObject(member)) {
      problems.push({ field: name, message: "must be an object" })
    }
  }
  if (hook === undefined || problems.length > 0) return { problems }
  return { input: { hook, context: objectOr(given["context"]), payload: objectOr(given["payload"]) } }
}

const textOf = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise)

const bytesOf = (value: unknown): Uint8Array | null =>
  isObject(value) ? new TextEncoder().encode(JSON.stringify(value)) : null

const contextOf = (hook: RequestHook, given: JsonObject, nowMs: number): HookContext => {
  const body = objectOr(given["body"])
  const headers = Object.entries(objectOr(given["headers"])).flatMap(([name, value]): ReadonlyArray<[string, string]> =>
    typeof value === "string" ? [[name.toLowerCase(), value]] : []
  )
  const { apiKeyId, timestamp } = given
  return {
    requestId: textOf(given["requestId"], "test"),
    model: textOf(given["model"], textOf(body["model"], "")),
    provider: textOf(given["provider"], ""),
    headers: Object.fromEntries(headers),
    metadata: objectOr(given["metadata"]),
    timestamp: typeof timestamp === "number" ? timestamp : nowMs,
    hook,
    wire: WireName.literals.find((wire) => wire === given["wire"]) ?? "chat",
    endpoint: textOf(given["endpoint"], "chat"),
    stream: given["stream"] === true,
    apiKeyId: typeof apiKeyId === "string" ? apiKeyId : null
  }
}

const parsed = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return null
  }
}

const shown = (outcome: HookOutcome): TestResult => {
  const { metadata, ms } = outcome
  switch (outcome._tag) {
    case "Unchanged":
      return { action: "none", result: null, metadata, ms }
    case "Changed":
      return { action: "modified", result: parsed(outcome.body), metadata, ms }
    case "Blocked":
      return { action: "blocked", result: outcome.answer, metadata, ms }
    case "Failed":
      return { action: "failed", result: outcome.reason, metadata, ms }
  }
}

const callOf = (hook: RequestHook, { context, payload }: TestInput, nowMs: number): HookCall => {
  const made = contextOf(hook, context, nowMs)
  if (hook !== "onResponse") return { context: made, permission: operatorsOwn, body: bytesOf(context["body"]), payload }
  const { body, ...rest } = payload
  return { context: made, permission: operatorsOwn, body: bytesOf(body), payload: rest }
}

/** Runs a test. `clock`: milliseconds, for the calls whose time the sandbox does not report. */
export const runTest = (
  sandbox: OpenSandbox,
  input: TestInput,
  clock: Effect.Effect<number>
): Effect.Effect<TestResult> =>
  Effect.gen(function* () {
    const { hook } = input
    const startMs = yield* clock
    if (!sandbox.defined.hooks.includes(hook)) {
      return { action: "failed", result: `The plugin has no function for ${hook}.`, metadata: null, ms: 0 } as const
    }
    if (isRequest(hook) && (hook === "onRequest" || hook === "onResponse")) {
      return shown(yield* sandbox.call(callOf(hook, input, startMs)))
    }
    const problem = isLifecycle(hook)
      ? yield* sandbox.lifecycle(hook, input.payload)
      : (yield* sandbox.notify([eventOf(callOf(hook, input, startMs))])) === 0
        ? null
        : "It threw, or was late; its log says more."
    const ms = (yield* clock) - startMs
    return problem === null
      ? { action: "none", result: null, metadata: null, ms }
      : { action: "failed", result: problem, metadata: null, ms }
  })
