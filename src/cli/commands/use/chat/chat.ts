/** `gateway chat`: one question, or a conversation at the terminal. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { readBeside, readInput } from "../../../asking/input.ts"
import { canAsk } from "../../../asking/terminal.ts"
import { loadConfig } from "../../../flags/EnvFile.ts"
import { BadArgument } from "../../../Failure.ts"
import * as Client from "../../../gateway/Client.ts"
import * as MediaFlags from "../../../flags/MediaFlags.ts"
import * as Output from "../../../output/Output.ts"
import { withSpinner } from "../../../output/spinner.ts"
import { asking, factsOf, failureOf, remarksOf } from "./answering.ts"
import { contentOf, type Content } from "./Content.ts"
import { messagesOf } from "./Conversation.ts"
import { wholeMention } from "./Mentions.ts"
import { attached, maxFileBytes, readPrompt } from "./Prompt.ts"
import { summaryLine, tokensPerSecond } from "./Summary.ts"
import { talk } from "./talk.ts"

const Result = Schema.Struct({
  text: Schema.String,
  provider: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  finishReason: Schema.NullOr(Schema.String),
  usage: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  costUsd: Schema.NullOr(Schema.Number),
  tokensPerSecond: Schema.NullOr(Schema.Number),
  requestId: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String)
})

const nothing = new BadArgument({
  message: "There is nothing to ask.",
  hint: "Give a question, pipe one in, or run 'gateway chat' on a terminal for a conversation."
})

const inputName = "standard input"

/** The file that a word is. One with spaces may also be a question that begins with a file. */
const fileOf = (word: string): string | null => {
  const path = wholeMention(word)
  return path !== null && (!/\s/.test(path) || existsSync(path)) ? path : null
}

/** Reads the question; null: none was given. */
const contentFrom = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const isAwaited = words.includes("-")
  const given = words.filter((word) => word !== "-")
  const piped = isAwaited || given.length === 0 ? yield* readInput(maxFileBytes) : yield* readBeside(maxFileBytes)
  const attachments = piped === null || piped.length === 0 ? [] : [yield* attached(inputName, piped)]
  if (given.length === 0) {
    const [input] = attachments
    // What is piped in alone is the question as it is: an '@' in it names no file.
    const alone: Content = input?._tag === "Text" ? input.text.trim() : contentOf("", attachments)
    return alone.length === 0 ? null : alone
  }
  const files = given.flatMap((word) => fileOf(word) ?? [])
  const text = given.filter((word) => fileOf(word) === null).join(" ")
  const content = yield* readPrompt({ text, files, attachments })
  return content.length === 0 ? null : content
})

const once = Effect.fnUntraced(function* (
  to: Client.Target,
  question: { readonly model: string; readonly messages: ReadonlyArray<unknown> },
  asJson: boolean
) {
  const { run } = asking(to, question, !asJson)
  const answered = yield* asJson ? withSpinner("Waiting for the answer …")(run) : run
  const { answer, servedBy, streamedMs } = answered
  const failure = failureOf(answered)
  if (asJson) {
    const facts = yield* factsOf(to, answered)
    yield* Output.json(Result, {
      text: answer.text,
      provider: servedBy.provider,
      model: servedBy.model,
      finishReason: answer.finishReason,
      usage: answer.usage,
      costUsd: facts.costUsd,
      tokensPerSecond: tokensPerSecond({ streamedMs, tokens: facts.tokens }),
      requestId: servedBy.requestId,
      error: failure?.message ?? null
    })
  }
  yield* Effect.forEach(remarksOf(answer), Output.note, { discard: true })
  if (failure !== null) return yield* failure
  if (!asJson && process.stderr.isTTY) yield* Output.note(summaryLine(yield* factsOf(to, answered)))
})

export const chatCommand = Command.make(
  "chat",
  {
    prompt: Args.text({ name: "prompt" }).pipe(
      Args.withDescription(
        "What is asked; without it a conversation begins. '@path' puts in a text file or an image; what is piped in stands below, and '-' waits for it."
      ),
      Args.repeated
    ),
    model: Options.text("model").pipe(
      Options.withAlias("m"),
      Options.withDescription("A model id, alias or combo. Default: GATEWAY_MODEL, else 'auto'."),
      Options.optional
    ),
    system: Options.text("system").pipe(
      Options.withAlias("s"),
      Options.withDescription("Instructions to the model, before the conversation."),
      Options.optional
    ),
    json: MediaFlags.jsonOf(
      "Print one object: text, model, usage, cost and id of the request. Exit 1 when the answer is not whole."
    ),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const { environment } = yield* loadConfig
      const model = Option.getOrElse(given.model, () => environment.get("GATEWAY_MODEL") || "auto")
      const system = Option.getOrNull(given.system)
      if (given.prompt.length === 0 && !given.json && (yield* canAsk)) {
        return yield* talk(yield* Client.target(given), model, system)
      }
      if (given.prompt.length === 0 && process.stdin.isTTY) return yield* nothing
      const content = yield* contentFrom(given.prompt)
      if (content === null) return yield* nothing
      const to = yield* Client.target(given)
      yield* once(to, { model, messages: messagesOf({ system, turns: [] }, content) }, given.json)
    })
)
