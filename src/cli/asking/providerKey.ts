/**
 * A provider's key as people give it: pasted with what was around it, from standard input, or from a variable. What can be no part of a
 * key is taken off; what makes it no key at all is refused, so that a wrong one is never stored. Messages never contain it.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { isGatewayKey } from "../../kernel/secrets/GatewayKey.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument } from "../Failure.ts"
import { readSecret } from "./stdin.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

const maxChars = 8192
/** `export OPENAI_API_KEY="Bearer …";` has four. */
const maxLayers = 8

/** Patterns of text around a key: each removes one layer. */
const layers: ReadonlyArray<RegExp> = [
  /^(?:export\s+)?[A-Za-z][A-Za-z0-9_]*(?:KEY|TOKEN|SECRET)\s*=\s*(?=[^\s=])/i,
  /^(?:authorization|x-api-key|x-goog-api-key|api-key)\s*:\s*/i,
  /^bearer(?:\s+|$)/i,
  /^["'`“”‘’]/u,
  /["'`“”‘’]$/u,
  /[;,]$/
]

const unwrapped = (text: string): string => {
  let key = text
  for (let layer = 0; layer < maxLayers; layer++) {
    const before = key
    // Also what is invisible: a byte order mark, a space of width zero.
    key = key.replace(/^[\s\u{200B}-\u{200D}\u{FEFF}]+/u, "").trimEnd()
    key = key.replace(/[\u{200B}-\u{200D}\u{FEFF}]+$/u, "")
    for (const around of layers) key = key.replace(around, "")
    if (key === before) return key
  }
  return key
}

const isJsonObject = (text: string): boolean => {
  if (!text.startsWith("{")) return false
  try {
    return typeof JSON.parse(text) === "object"
  } catch {
    return false
  }
}

/** The key in a text; left is what is wrong, to be read after "The key". */
export const cleanKey = (text: string): Either.Either<string, string> => {
  if (text.length > maxChars) return Either.left(`is longer than ${maxChars} characters`)
  const trimmed = text.trim()
  // Some providers take the whole file of a service account.
  if (isJsonObject(trimmed)) return Either.right(trimmed)
  const key = unwrapped(trimmed)
  if (key === "") return Either.left("is empty")
  if (isGatewayKey(key)) return Either.left("is one of a gateway, which no provider knows")
  if (/\s/.test(key)) return Either.left("has a space or a line end in it; copy it again, alone and in one piece")
  if (/\*{3}|\.{3}|…/u.test(key)) return Either.left("is shortened, as lists show it; copy the whole one")
  if (!/^[\x21-\x7e]+$/.test(key)) return Either.left("has a character in it that no key has; copy it again")
  return Either.right(key)
}

/** The same as a secret. `from` says where it came from, such as a flag. */
export const checkedKey = (text: string, from: string): Effect.Effect<Redacted.Redacted, BadArgument> =>
  Either.match(cleanKey(text), {
    onRight: (key) => Effect.succeed(Redacted.make(key)),
    onLeft: (problem) =>
      new BadArgument({ message: `${from}: the key ${asSentence(problem)}`, hint: "Nothing was stored." })
  })

/** The flags that give a provider's key. */
export interface KeyFlags {
  readonly apiKey: Option.Option<Redacted.Redacted>
  readonly apiKeyStdin: boolean
  readonly apiKeyEnv: Option.Option<string>
}

/** The key that the flags give; null when none does. */
export const keyOfFlags = Effect.fnUntraced(function* ({ apiKey, apiKeyEnv, apiKeyStdin }: KeyFlags) {
  const ways = [Option.isSome(apiKey), apiKeyStdin, Option.isSome(apiKeyEnv)].filter(Boolean).length
  if (ways > 1) {
    return yield* new BadArgument({
      message: "The provider's key is given twice.",
      hint: "Give one of --api-key, --api-key-stdin and --api-key-env."
    })
  }
  if (Option.isSome(apiKey)) return yield* checkedKey(Redacted.value(apiKey.value), "--api-key")
  if (apiKeyStdin) return yield* checkedKey(yield* readSecret, "--api-key-stdin")
  if (Option.isNone(apiKeyEnv)) return null
  const { environment } = yield* loadConfig
  const value = environment.get(apiKeyEnv.value)
  if (value === undefined) {
    return yield* new BadArgument({
      message: `--api-key-env: there is no variable '${apiKeyEnv.value}'.`,
      hint: "Give the name of the variable, not its value."
    })
  }
  return yield* checkedKey(value, `--api-key-env ${apiKeyEnv.value}`)
})
