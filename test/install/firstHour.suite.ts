/**
 * The first hour of a new user on a terminal of 80 columns, each step as the README has it typed, with a stopwatch. The screens and the
 * times are written to `.gateway/first-hour.md`; `docs/first-hour.md` is a copy of one run.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import * as Terminal from "../support/Terminal.ts"

const project = new URL("../..", import.meta.url).pathname
const key = "sk-good-0123456789abcdef"
const prompt = "newcomer$ "

interface Step {
  readonly what: string
  readonly typed: string
  readonly ms: number
  readonly screen: string
}

const home = (): string => mkdtempSync(join(tmpdir(), "gateway-first-hour-"))

/** A login shell with nothing but the installed program. */
const shell = Effect.fnUntraced(function* (folder: string) {
  const terminal = yield* Terminal.open(["bash", "--norc", "--noprofile", "-i"], {
    cwd: folder,
    env: {
      PATH: `${join(inject("installed"), "bin")}:${process.env["PATH"]}`,
      HOME: folder,
      LANG: "C.UTF-8",
      HISTFILE: "/dev/null"
    },
    rows: 40
  })
  yield* terminal.shows(/[$#]$/)
  terminal.type(`PS1='${prompt}'; clear\r`)
  yield* terminal.shows(/^newcomer\$$/)
  return terminal
})

/** OpenAI as far as a first hour sees it. */
const provider = Effect.gen(function* () {
  const fake = yield* Fake.start
  fake.lists((response, request) => {
    const accepted = request.headers.authorization === `Bearer ${key}`
    const answer = accepted
      ? Fake.json(Fake.models(["gpt-4o", "gpt-4o-mini", "o3"]))
      : Fake.json(Fake.errorBody("chat", "Incorrect API key provided.", { code: "invalid_api_key" }), { status: 401 })
    return answer(response, request)
  })
  fake.always((response, request) => {
    const accepted = request.headers.authorization === `Bearer ${key}`
    const answer = accepted
      ? Fake.json(Fake.chatCompletion({ text: "Hello from your first provider." }))
      : Fake.json(Fake.errorBody("chat", "Incorrect API key provided.", { code: "invalid_api_key" }), { status: 401 })
    return answer(response, request)
  })
  return fake
})

const stopwatch = (steps: Array<Step>) => ({
  /** Types a line and waits for what it shows; the screen is kept from that line on. */
  run: (terminal: Terminal.Terminal, what: string, typed: string, shown: RegExp) =>
    Effect.gen(function* () {
      const before = terminal.screen().length
      const lineBegin = terminal.screen().lastIndexOf("\n") + 1
      const begunMs = performance.now()
      terminal.type(`${typed}\r`)
      const rest = (): string => terminal.screen().slice(lineBegin)
      yield* terminal
        .showsFrom(before, shown)
        .pipe(
          Effect.timeoutFail({ duration: "15 seconds", onTimeout: () => new Error(`${what} shows:\n${rest()}`) }),
          Effect.orDie
        )
      const ms = Math.round(performance.now() - begunMs)
      steps.push({ what, typed: typed.includes("sk-") ? "(hidden)" : typed, ms, screen: rest() })
      return rest()
    })
})

const seconds = (ms: number): string => (ms / 1000).toFixed(1)

const report = (steps: ReadonlyArray<Step>): string =>
  [
    "# The first hour, as a terminal showed it",
    "",
    "Written by `npm run test:install`: a package that was just installed, an empty home folder, a terminal of 80 columns, and a server that",
    "speaks as OpenAI does. Times are those of the machine, without any for reading or thinking.",
    "",
    "| step | typed | seconds |",
    "| --- | --- | ---: |",
    `| install the package | \`npm install -g ./onegateway-*.tgz\` | ${seconds(inject("installMs"))} |`,
    ...steps.map(({ ms, typed, what }) => `| ${what} | \`${typed.split(" http")[0]}\` | ${seconds(ms)} |`),
    `| all after the installation | | ${seconds(steps.reduce((sum, { ms }) => sum + ms, 0))} |`,
    "",
    ...steps.flatMap(({ screen, what }) => [`## ${what}`, "", "```text", screen.trimEnd(), "```", ""])
  ].join("\n")

describe("the first hour", () => {
  it.scopedLive("goes from nothing to an answer, a key and the story of a request, without a dead end", () =>
    Effect.gen(function* () {
      const fake = yield* provider
      const steps: Array<Step> = []
      const { run } = stopwatch(steps)
      const folder = home()
      const server = yield* shell(folder)
      const person = yield* shell(folder)

      yield* run(server, "see what there is", "gateway --help", /gateway help <command>[\s\S]*\$$/)
      const started = yield* run(server, "start it", "gateway --port 20177", /Gateway listening on \S+[\s\S]*Ctrl-C/)
      assert.notMatch(started, /fiber|warn|error/i)

      const add = `gateway provider add openai --base-url ${fake.origin}/v1`
      // What it says about keys comes before the question.
      yield* run(person, "connect a provider: it asks for the key", add, /Key of [^\n]*$/)
      const connected = yield* run(
        person,
        "paste a wrong key",
        "sk-wrong-0123456789abcd",
        /Incorrect API key[\s\S]*Key of [^\n]*$/
      )
      assert.notInclude(connected, "sk-wrong")
      const added = yield* run(person, "paste the right one, with a space", ` ${key} `, /Connected[\s\S]*\$$/)
      assert.match(added, /gpt-4o/)
      assert.notInclude(added, key)

      const question = /^\s*((?:gateway|curl) .*(?:\n\s+.*)*?)\n(?=\n|newcomer)/mu.exec(added)?.[1] ?? ""
      assert.notStrictEqual(question, "", added)
      yield* run(
        person,
        "ask the first question that it proposes",
        question.replaceAll(/\s*\\?\n\s*/g, " "),
        /first provider[\s\S]*\$$/
      )

      yield* run(person, "see what it cost", "gateway logs", /gpt-4o[\s\S]*\$$/)
      yield* run(person, "see what is connected", "gateway provider list", /openai[\s\S]*\$$/)
      yield* run(person, "make a key for a client", "gateway key add laptop", /gw[a-z]*[-_]\S+[\s\S]*\$$/)
      yield* run(person, "see why it went there", "gateway route explain auto", /openai[\s\S]*\$$/)
      yield* run(person, "mistype a command", "gateway providr list", /Did you mean[\s\S]*\$$/)
      yield* run(person, "ask whether all is well", "gateway doctor", /[\s\S]*\$$/)
      yield* run(server, "stop it", "\u0003", /\$$/)

      const text = report(steps).replaceAll(/\bgw_\w+/g, "gw_…")
      mkdirSync(join(project, ".gateway"), { recursive: true })
      writeFileSync(join(project, ".gateway", "first-hour.md"), text)
      assert.notInclude(text, key)
      const firstAnswerMs = steps.slice(0, 6).reduce((sum, { ms }) => sum + ms, 0)
      assert.isBelow(firstAnswerMs, 60_000)
    })
  )
})
