/** Lines typed at a terminal, with editing and history, and Ctrl-C while an answer comes. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { PassThrough } from "node:stream"
import { createInterface, type Key } from "node:readline"
import type { Input } from "./Conversation.ts"

export interface Keyboard {
  /** The next line, or the key that came in its place. */
  readonly next: (prompt: string) => Effect.Effect<Input>
  /** Ends with Ctrl-C. What else is typed meanwhile is dropped. */
  readonly interrupted: Effect.Effect<void>
}

const ctrlC = 3
const mostWaiting = 1_000
const historySize = 1_000

/** Terminals that know it say where a pasted text begins and ends, so that its lines are one message. */
const pasteMode = { on: "\u001b[?2004h", off: "\u001b[?2004l" }

const make = () => {
  const { stdin, stdout } = process
  /** Keys go to the line editor only while a line is asked for. The terminal stays raw, so that Ctrl-C is a key and no signal. */
  const keys = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (mode: boolean) => stdin.setRawMode(mode)
  })
  const editor = createInterface({ input: keys, output: stdout, terminal: true, historySize, prompt: "" })
  const waiting: Array<Input> = []
  let pasted: Array<string> = []
  let isPasting = false
  let asked: ((input: Input) => void) | null = null
  let stopped: (() => void) | null = null

  const give = (input: Input): void => {
    const resolve = asked
    asked = null
    if (resolve !== null) resolve(input)
    else if (waiting.length < mostWaiting) waiting.push(input)
  }
  const onData = (chunk: Buffer): void => {
    if (stopped === null) keys.write(chunk)
    else if (chunk.includes(ctrlC)) stopped()
  }
  keys.on("keypress", (_: string | undefined, { name }: Key) => {
    if (name === "paste-start") isPasting = true
    else if (name === "paste-end") isPasting = false
  })
  editor.on("line", (line) => {
    if (isPasting) return void pasted.push(line)
    const text = [...pasted, line].join("\n")
    pasted = []
    give({ _tag: "Line", text })
  })
  editor.on("SIGINT", () => {
    const hadText = editor.line !== "" || pasted.length > 0
    pasted = []
    editor.write(null, { ctrl: true, name: "e" })
    editor.write(null, { ctrl: true, name: "u" })
    stdout.write("^C\n")
    give({ _tag: "Interrupt", hadText })
  })
  editor.on("close", () => give({ _tag: "End" }))
  stdin.on("data", onData)
  stdin.on("end", () => give({ _tag: "End" }))
  stdin.setRawMode(true)
  stdin.resume()
  stdout.write(pasteMode.on)

  const keyboard: Keyboard = {
    next: (prompt) =>
      Effect.async((resume) => {
        editor.setPrompt(prompt)
        editor.prompt()
        const early = waiting.shift()
        if (early !== undefined) return resume(Effect.succeed(early))
        asked = (input) => resume(Effect.succeed(input))
        return Effect.sync(() => {
          asked = null
        })
      }),
    interrupted: Effect.async((resume) => {
      stopped = () => resume(Effect.void)
      return Effect.sync(() => {
        stopped = null
      })
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          stopped = null
        })
      )
    )
  }
  const close = (): void => {
    stdin.off("data", onData)
    editor.close()
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(pasteMode.off)
  }
  return { keyboard, close }
}

/** The keyboard, until the scope ends. Standard input and output must be a terminal. */
export const open: Effect.Effect<Keyboard, never, Scope> = Effect.map(
  Effect.acquireRelease(Effect.sync(make), ({ close }) => Effect.sync(close)),
  ({ keyboard }) => keyboard
)
