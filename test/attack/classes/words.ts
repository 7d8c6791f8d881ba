/** A caller's own words, repeated by the upstream's error, are to condemn the account that served the request. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import type { Arena } from "../Arena.ts"
import { ask, errorOf, wires } from "../Asks.ts"
import { type Attempt, type AttackClass, type Verdict } from "../Attempt.ts"

/** What providers say of accounts that are out, limited or without money. */
const phrases: ReadonlyArray<string> = [
  "your account has been deactivated",
  "This organization has been disabled",
  "Your account was suspended for violating our terms",
  "account banned",
  "You exceeded your current quota, please check your plan and billing details",
  "insufficient_quota",
  "Your credit balance is too low to access the API",
  "billing hard limit has been reached",
  "Incorrect API key provided",
  "invalid_api_key",
  "API key expired. Please renew the API key.",
  "account_deactivated",
  "You've hit your usage limit, resets in 30 days",
  "Rate limit reached, try again in 99999 seconds",
  "Daily quota exceeded",
  "Payment required: out of credits",
  "token has been revoked, please sign in again",
  "permission denied for this project, it has been suspended"
]

type Place = "model" | "prompt" | "tool" | "setting" | "user"

/** Writes the phrase into a request. */
const written = (wire: WireName, model: string, phrase: string, place: Place) => {
  const name = place === "model" ? `${model}-${phrase.replaceAll("/", "")}` : model
  const { body, path } = ask(wire, name, place === "prompt" ? phrase : "Hi")
  const word = phrase.replaceAll(/[^A-Za-z0-9_]/g, "_").slice(0, 60)
  const parameters = { type: "object", properties: {} }
  if (place === "tool") {
    if (wire === "messages") body["tools"] = [{ name: word, description: phrase, input_schema: parameters }]
    else if (wire === "gemini")
      body["tools"] = [{ functionDeclarations: [{ name: word, description: phrase, parameters }] }]
    else if (wire === "responses") body["tools"] = [{ type: "function", name: word, description: phrase, parameters }]
    else body["tools"] = [{ type: "function", function: { name: word, description: phrase, parameters } }]
  }
  if (place === "setting") {
    if (wire === "gemini") body["generationConfig"] = { stopSequences: [phrase] }
    else if (wire === "messages") body["stop_sequences"] = [phrase]
    else if (wire === "responses") body["reasoning"] = { effort: phrase }
    else if (wire === "ollama") body["options"] = { stop: [phrase] }
    else body["reasoning_effort"] = phrase
  }
  if (place === "user") {
    if (wire === "messages") body["metadata"] = { user_id: phrase }
    else if (wire === "gemini") body["labels"] = { user: phrase }
    else body["user"] = phrase
  }
  return { body, path }
}

/** How an upstream repeats what it was sent. */
const echoes: ReadonlyArray<(phrase: string) => string> = [
  (phrase) => `Invalid value: '${phrase}'. Supported values are: 'low', 'medium' and 'high'.`,
  (phrase) => `The model \`${phrase}\` does not exist or you do not have access to it.`,
  (phrase) => `Unknown value ${JSON.stringify(JSON.stringify(phrase))} in your request`,
  (phrase) => `Bad parameter ${encodeURIComponent(phrase)}`,
  (phrase) => `Refused: ${phrase.toUpperCase()}`,
  (phrase) => `Your prompt was flagged: &quot;${phrase.replaceAll("'", "&#39;")}&quot;`,
  (phrase) => `Invalid tool name ${phrase.replaceAll(/[^A-Za-z0-9_]/g, "_")}`
]

const places: ReadonlyArray<Place> = ["model", "prompt", "tool", "setting", "user"]
const statuses: ReadonlyArray<number> = [400, 403, 404, 422, 500]

/** A hold longer than this is more than the cooldown of any passing failure. */
const ordinaryCooldownMs = 10_000
const terminal = new Set(["banned", "expired", "credits_exhausted"])

const punished = async (arena: Arena, ids: ReadonlyArray<string>, sentAtMs: number): Promise<Verdict> => {
  for (const [index, id] of ids.entries()) {
    const { connection } = await arena.open.must("GET", `/api/providers/${id}`)
    if (terminal.has(connection.testStatus))
      return `account ${index + 1} is ${connection.testStatus}: ${connection.lastError}`
    const heldMs = connection.rateLimitedUntil === null ? 0 : Date.parse(connection.rateLimitedUntil) - sentAtMs
    if (heldMs > ordinaryCooldownMs) return `account ${index + 1} is held for ${heldMs} ms: ${connection.lastError}`
  }
  return null
}

/** Asks once, and looks at what became of the accounts. */
const judged = async (
  arena: Arena,
  accounts: ReadonlyArray<{ readonly id: string }>,
  path: string,
  body: object
): Promise<Verdict> => {
  const sentAtMs = Date.now()
  await arena.open.send({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return punished(
    arena,
    accounts.map(({ id }) => id),
    sentAtMs
  )
}

const echoAttempt = (wire: WireName, phrase: string, index: number): Attempt => {
  // Walks through places, statuses and echoes so that every pair of neighbours comes up somewhere.
  const place = places[index % places.length] ?? "prompt"
  const status = statuses[Math.floor(index / places.length) % statuses.length] ?? 400
  const echo = echoes[index % echoes.length] ?? String
  return {
    name: `${wire} ${status}: '${phrase}' as ${place}, echo ${index % echoes.length}`,
    run: async (arena) => {
      const { prefix } = await arena.node(arena.open, wire)
      const accounts = [await arena.connection(arena.open, prefix), await arena.connection(arena.open, prefix)]
      arena.answer(prefix, Fake.json(errorOf(wire, status, echo(phrase)), { status }))
      const { body, path } = written(wire, `${prefix}/m`, phrase, place)
      return judged(arena, accounts, path, body)
    }
  }
}

const streamed = (wire: "chat" | "messages" | "responses", phrase: string): Attempt => ({
  name: `${wire} in a stream's error event: '${phrase}' as prompt`,
  run: async (arena) => {
    const { prefix } = await arena.node(arena.open, wire)
    const accounts = [await arena.connection(arena.open, prefix), await arena.connection(arena.open, prefix)]
    const message = `Invalid prompt: ${phrase}`
    const event =
      wire === "responses"
        ? `event: error\ndata: ${JSON.stringify({ type: "error", code: null, message, param: null, sequence_number: 0 })}\n\n`
        : `event: error\ndata: ${JSON.stringify(errorOf(wire, 400, message))}\n\n`
    arena.answer(prefix, Fake.sse([event]))
    const { body, path } = ask(wire, `${prefix}/m`, phrase, true)
    return judged(arena, accounts, path, body)
  }
})

let index = 0
const whole = wires.flatMap((wire) =>
  phrases.flatMap((phrase) => Array.from({ length: 4 }, () => echoAttempt(wire, phrase, index++)))
)
const inStreams = (["chat", "messages", "responses"] as const).flatMap((wire) =>
  phrases.map((phrase) => streamed(wire, phrase))
)

export const words: AttackClass = {
  name: "a caller's words against an account",
  atOnce: 4,
  attempts: [...whole, ...inStreams]
}
