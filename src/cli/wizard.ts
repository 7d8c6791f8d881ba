/** The questions of `gateway setup`. */
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../api/Groups/Providers.ts"
import type { ProviderSpec } from "../domain/Provider.ts"
import { closest } from "../kernel/Closest.ts"
import { body } from "./Flags.ts"
import { loadRoom } from "./lazy.ts"
import { askNewPassword } from "./password.ts"

const yes = (message: string) => Prompt.confirm({ message, initial: true })

const askProvider = Effect.gen(function* () {
  const registry = yield* loadRoom(() => import("../providers/Registry.ts"))
  const known = [...registry.registry.keys()]
  const unknown = (id: string): string => {
    const near = closest(id, known, 3)
    return near.length === 0
      ? "No such provider; see 'gateway providers available'."
      : `Did you mean ${near.join(", ")}?`
  }
  const find = (id: string): Effect.Effect<ProviderSpec, string> =>
    Effect.mapError(Effect.fromNullable(registry.find(id.trim())), () => unknown(id))
  const id = yield* Prompt.text({
    message: "Provider (such as openai, anthropic, groq, ollama)",
    validate: (text) => Effect.map(find(text), (spec) => spec.id)
  })
  return yield* Effect.orDie(find(id))
})

const optionalText = (message: string) =>
  Effect.map(Prompt.text({ message }), (text) => (text.trim() === "" ? undefined : text.trim()))

const askConnection = Effect.gen(function* () {
  const spec = yield* askProvider
  const needsKey = spec.auth.type === "apikey" || spec.auth.type === "oauth"
  const key = yield* Prompt.password({
    message: needsKey ? `Key of ${spec.name}` : `Key of ${spec.name} (empty: none)`
  })
  const needsAddress = spec.baseUrl.includes("{") || spec.category === "local"
  const baseUrl = needsAddress ? yield* optionalText(`Address (empty: ${spec.baseUrl})`) : undefined
  const defaultModel = yield* optionalText("Default model (empty: none)")
  return yield* body(
    CreateConnection,
    { provider: spec.id, apiKey: Redacted.value(key) === "" ? undefined : Redacted.value(key), baseUrl, defaultModel },
    { apiKey: "Key", baseUrl: "Address", defaultModel: "Default model" }
  )
})

/** Asks what to do. Ctrl-C at any question leaves everything as it was. */
export const askPlan = Effect.gen(function* () {
  const password = (yield* yes("Set the admin password?")) ? yield* askNewPassword : null
  const connection = (yield* yes("Connect a provider?")) ? yield* askConnection : null
  const test = connection !== null && (yield* yes("Ask it a tiny question to see whether it answers?"))
  return { password, connection, test }
})
