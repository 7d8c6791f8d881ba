/** A conversation at the terminal. */
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { homedir } from "node:os"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Target } from "../../../gateway/Client.ts"
import * as Output from "../../../output/Output.ts"
import { asking, factsOf, failureOf, remarksOf } from "./answering.ts"
import { answered, type Conversation, messagesOf, next, type Outcome, savedAs, started } from "./Conversation.ts"
import * as Keyboard from "./Keyboard.ts"
import { readPrompt } from "./Prompt.ts"
import { summaryLine } from "./Summary.ts"
import { asSentence } from "../../../../kernel/text/Sentence.ts"

const prompts = { first: "› ", more: "… " }

const saying = (error: { readonly message?: string; readonly hint?: string | undefined }) =>
  Output.note([error.message ?? "", ...(error.hint === undefined ? [] : [error.hint])].join("\n"))

const save = (state: Conversation, path: string): Effect.Effect<void> => {
  const located = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path
  return Effect.tryPromise({
    try: () => writeFile(located, savedAs(state, path), { flag: "wx" }),
    catch: (error) => (error instanceof Error ? error.message : String(error))
  }).pipe(
    Effect.zipRight(Output.note(`The conversation is in ${path}.`)),
    Effect.catchAll((reason) =>
      Output.note(
        reason.startsWith("EEXIST")
          ? `'${path}' is there already: give another name.`
          : `'${path}' cannot be written: ${asSentence(reason)}`
      )
    )
  )
}

/** Asks, shows the answer, and stops with Ctrl-C. */
const answer = Effect.fnUntraced(function* (
  to: Target,
  keyboard: Keyboard.Keyboard,
  question: Parameters<typeof asking>[1]
) {
  const { run, soFar } = asking(to, question, true)
  const ended = yield* Effect.raceFirst(Effect.either(run), Effect.as(keyboard.interrupted, "stopped" as const))
  if (ended === "stopped") {
    yield* Output.note("Stopped.")
    return { text: soFar().text, isWhole: false, isStopped: true } satisfies Outcome
  }
  if (Either.isLeft(ended)) {
    yield* saying(ended.left)
    return { text: soFar().text, isWhole: false, isStopped: false } satisfies Outcome
  }
  const whole = ended.right
  yield* Effect.forEach(remarksOf(whole.answer), Output.note, { discard: true })
  const failure = failureOf(whole)
  if (failure === null) yield* Output.note(summaryLine(yield* factsOf(to, whole)))
  else yield* saying(failure)
  return { text: whole.answer.text, isWhole: failure === null, isStopped: false } satisfies Outcome
})

/** Runs a conversation until Ctrl-D or `/quit`; Ctrl-C twice ends it like a stopped command. */
export const talk = (to: Target, model: string, system: string | null) =>
  Effect.gen(function* () {
    const keyboard = yield* Keyboard.open
    yield* Output.note(`You talk to ${model} at ${to.url}. /help shows what there is; Ctrl-D leaves.`)
    let state = started(model, system)
    while (true) {
      const isMore = state.isBlock || state.lines.length > 0
      const step = next(state, yield* keyboard.next(isMore ? prompts.more : prompts.first))
      state = step.state
      const { action } = step
      switch (action._tag) {
        case "Wait":
          break
        case "Say":
          yield* Output.note(action.text)
          break
        case "Save":
          yield* save(state, action.path)
          break
        case "Leave":
          if (action.byInterrupt) return yield* new Terminal.QuitException()
          return
        case "Ask": {
          const content = yield* Effect.either(readPrompt({ text: action.text, files: [], attachments: [] }))
          if (Either.isLeft(content)) {
            yield* saying(content.left)
            break
          }
          const question = { model: state.model, messages: messagesOf(state, content.right) }
          state = answered(state, content.right, yield* answer(to, keyboard, question))
        }
      }
    }
  }).pipe(Effect.scoped)
