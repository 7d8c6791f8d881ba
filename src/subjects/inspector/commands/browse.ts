/** `gateway inspect` at a terminal: a list of captured requests to move in, which follows the feed. Elsewhere it is `gateway inspect list`. */
import * as Command from "@effect/cli/Command"
import * as Terminal from "@effect/platform/Terminal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { canAsk } from "../../../cli/asking/terminal.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { listen, type InspectorMessage } from "../../../cli/gateway/InspectorFeed.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import { Screen } from "../../../cli/output/Screen.ts"
import { write } from "../../../cli/output/Stdout.ts"
import { type Browse, empty, type Key, pressed, type Step, withFrame } from "./browse/Browse.ts"
import { draw, heightOf, type Size } from "./browse/draw.ts"
import { inspector } from "./rows.ts"
import { conversationText, diffText, listFlags, pageOf, showList } from "./show.ts"

type Event = { readonly _tag: "Key"; readonly key: Key } | { readonly _tag: "Told"; readonly told: InspectorMessage }

const screenOn = "\u001b[?1049h\u001b[?25l"
const screenOff = "\u001b[?25h\u001b[?1049l"
/** Frames and keys that are worked on before the screen is drawn. */
const maxAtOnce = 1_000

const sizeOf = (columns: number): Size => ({ columns, rows: Math.max(4, process.stdout.rows ?? 24) })

const keyOf = ({ input, key }: Terminal.UserInput): Key => ({
  name: key.name,
  text: Option.getOrElse(input, () => ""),
  isCtrl: key.ctrl
})

/** Keys until Ctrl-C, which ends the input. */
const forwardKeys = (events: Queue.Enqueue<Event>) =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const keys = yield* terminal.readInput
    yield* Effect.forever(
      Effect.flatMap(keys.take, (input) => Queue.offer(events, { _tag: "Key", key: keyOf(input) }))
    ).pipe(
      Effect.catchAll(() => Queue.offer(events, { _tag: "Key", key: { name: "c", text: "", isCtrl: true } })),
      Effect.forkScoped
    )
  })

const browse = (to: Client.Target) =>
  Effect.gen(function* () {
    const client = yield* inspector(to)
    const frames = yield* listen(to)
    const events = yield* Queue.unbounded<Event>()
    yield* Effect.acquireRelease(write(screenOn), () => write(screenOff))
    yield* forwardKeys(events)
    yield* Effect.forever(
      Effect.flatMap(Queue.take(frames), (each) => Queue.offer(events, { _tag: "Told", told: each }))
    ).pipe(Effect.forkScoped)

    /** Fetches the page that a step asks for. */
    const pageFor = (
      step: Exclude<Step, { readonly _tag: "Quit" }>
    ): Effect.Effect<ReadonlyArray<string>, CliFailure> => {
      const asked =
        step._tag === "Compare"
          ? Effect.map(client.diff({ path: { id: step.one, other: step.other } }), diffText)
          : step.view === "show"
            ? Effect.map(client.get({ path: { id: step.id }, urlParams: {} }), pageOf)
            : Effect.map(client.conversation({ path: { id: step.id } }), conversationText)
      return asked.pipe(
        Client.orExplain(to),
        Effect.map((text) => text.split("\n"))
      )
    }

    const doStep = (state: Browse, step: Exclude<Step, { readonly _tag: "Quit" }>): Effect.Effect<Browse> =>
      pageFor(step).pipe(
        Effect.map((lines) => ({
          ...state,
          page: { title: step._tag === "Compare" ? `${step.one} and ${step.other}` : step.id, lines, top: 0 }
        })),
        // It may have been rotated out; the list goes on.
        Effect.catchAll(({ message }) => Effect.succeed({ ...state, message }))
      )

    let state = empty
    while (true) {
      const size = sizeOf((yield* Screen).columns() ?? 80)
      const lines = draw(state, size, yield* Clock.currentTimeMillis)
      yield* write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`)
      for (const event of yield* Queue.takeBetween(events, 1, maxAtOnce)) {
        if (event._tag === "Told") {
          if (event.told._tag === "Closed") return yield* Effect.fail(event.told.failure)
          state = withFrame(state, event.told.frame)
          continue
        }
        const { state: next, step } = pressed(state, event.key, heightOf(size))
        if (step?._tag === "Quit") return
        state = step === null ? next : yield* doStep(next, step)
      }
    }
  }).pipe(Effect.scoped)

export const inspectBrowse = Command.make("browse", listFlags, (given) =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    const isForPeople = format === "table" || format === "wide"
    if (!isForPeople || !(yield* canAsk)) return yield* showList(given)
    yield* browse(yield* Client.target(given))
  })
)
