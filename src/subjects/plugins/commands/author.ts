/** `gateway plugin new`, `check`, `test` and `pack`: for authors, without a gateway. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { LogView } from "../routes.ts"
import { pluginNameProblem } from "../entity.ts"
import type { LogLine } from "../../../agents/plugins/sandbox/Sandbox.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { loadConfig } from "../../../cli/flags/EnvFile.ts"
import { AlreadyReported, BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { listed, readProject } from "./project.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

const folder = Args.text({ name: "folder" }).pipe(
  Args.withDescription("The folder of the plugin."),
  Args.withDefault(".")
)

const newName = Args.text({ name: "name" }).pipe(
  Args.withDescription("Its name: small letters, digits and dashes. Also the folder that is made.")
)

export const pluginNew = Command.make("new", { name: newName }, ({ name }) =>
  Effect.gen(function* () {
    const problem = pluginNameProblem(name)
    if (problem !== null) {
      return yield* new BadArgument({
        message: `'${name.slice(0, 100)}' cannot be the name of a plugin: it ${asSentence(problem)}`
      })
    }
    const root = resolve(name)
    if (existsSync(root) && readdirSync(root).length > 0) {
      return yield* new BadArgument({ message: `${root} is there already, and not empty.` })
    }
    const { projectFiles } = yield* loadModule(() => import("../../../agents/plugins/sdk/NewProject.ts"))
    const files = projectFiles(name)
    yield* Effect.try({
      try: () => {
        for (const [path, text] of files) {
          const full = join(root, path)
          mkdirSync(dirname(full), { recursive: true })
          writeFileSync(full, text, { flag: "wx" })
        }
      },
      catch: (error) =>
        new CommandFailed({
          message: `${root} cannot be written: ${error instanceof Error ? error.message : "it failed"}`
        })
    })
    yield* Output.done(
      { name, folder: root, files: [...files.keys()] },
      `${root} is a plugin that works. Next: 'gateway plugin test ${name}', then 'gateway plugin install ${name} --activate'.`,
      name
    )
  })
)

const provided = Effect.map(loadConfig, (config) => Layer.succeed(AppConfig, config))

/** Problems of a manifest and its files; those of the code are looked for when there are none. */
const checked = (path: string) =>
  Effect.gen(function* () {
    const project = yield* readProject(path)
    const { manifest, warnings } = project.read
    if (manifest === null || project.problems.length > 0) return { project, problems: project.problems, warnings }
    const { checkCode } = yield* loadModule(() => import("../../../app/pluginTests.ts"))
    const code = yield* checkCode(manifest, project.files).pipe(
      Effect.provide(yield* provided),
      Effect.catchTag("PluginNotLoaded", ({ message }) =>
        Effect.succeed({ problems: [{ field: "main", message }], warnings: [] })
      )
    )
    return { project, problems: code.problems, warnings: [...warnings, ...code.warnings] }
  })

export const pluginCheck = Command.make("check", { folder }, (given) =>
  Effect.gen(function* () {
    const { problems, project, warnings } = yield* checked(given.folder)
    const name = project.read.manifest?.name ?? String(project.written["name"] ?? "")
    const ok = problems.length === 0
    yield* Output.result({
      schema: Schema.Unknown,
      value: { ok, name, integrity: project.integrity, problems, warnings },
      text: Effect.gen(function* () {
        for (const { field, message } of problems) yield* Output.print(`${field}: ${message}`)
        for (const warning of warnings) yield* Output.note(warning)
        if (ok) yield* Output.note(`${name} can be installed.`)
      }),
      name
    })
    if (!ok) return yield* new AlreadyReported()
  })
)

const Tests = Schema.Struct({
  ok: Schema.Boolean,
  tests: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      passed: Schema.Boolean,
      action: Schema.String,
      problem: Schema.NullOr(Schema.String),
      ms: Schema.Number,
      logs: Schema.Array(LogView)
    })
  )
})
/** Writes a line as `plugin logs` has it. */
const lineOf = ({ atMs, hook, level, message }: LogLine): LogView => ({
  at: new Date(atMs).toISOString(),
  level,
  hook,
  message
})

type TestRow = (typeof Tests.Type)["tests"][number]

const columns: ReadonlyArray<Column.Column<TestRow>> = [
  Column.name("TEST", ({ name }) => name),
  Column.yesNo("PASSED", ({ passed }) => passed),
  Column.text("ACTION", ({ action }) => action),
  Column.number("MS", ({ ms }) => Math.round(ms * 100) / 100),
  Column.text("PROBLEM", ({ problem }) => problem, { fit: "keep" })
]

export const pluginTest = Command.make("test", { folder }, (given) =>
  Effect.gen(function* () {
    const { problems, project } = yield* checked(given.folder)
    const { manifest } = project.read
    if (manifest === null || problems.length > 0) return yield* listed(problems)
    const { readFixtures } = yield* loadModule(() => import("../../../agents/plugins/sdk/Project.ts"))
    const fixtures = yield* Effect.mapError(readFixtures(given.folder), ({ message }) => new BadArgument({ message }))
    const { runTests } = yield* loadModule(() => import("../../../app/pluginTests.ts"))
    const outcomes = yield* runTests(manifest, project.files, fixtures).pipe(
      Effect.provide(yield* provided),
      Effect.mapError(({ message }) => new CommandFailed({ message }))
    )
    const tests = outcomes.map(({ action, logs, ms, name, passed, problem }) => ({
      name,
      passed,
      action,
      problem,
      ms,
      logs: logs.map(lineOf)
    }))
    const ok = tests.every(({ passed }) => passed)
    yield* Output.list({
      schema: Tests,
      value: { ok, tests },
      rows: tests,
      columns,
      empty: "There are no tests: put calls into the folder 'tests', such as those that 'gateway plugin new' writes."
    })
    for (const { logs, name } of tests) {
      for (const { level, message } of logs) yield* Output.remark(`${name} ${level}: ${message}`)
    }
    if (!ok) return yield* new AlreadyReported()
  })
)

const out = Options.text("to").pipe(
  Options.withDescription("The file to write; otherwise <name>-<version>.gateway-plugin.json here."),
  Options.optional
)

export const pluginPack = Command.make("pack", { folder, to: out }, (given) =>
  Effect.gen(function* () {
    const { problems, project } = yield* checked(given.folder)
    const { manifest } = project.read
    if (manifest === null || problems.length > 0) return yield* listed(problems)
    const file = resolve(Option.getOrElse(given.to, () => `${manifest.name}-${manifest.version}.gateway-plugin.json`))
    const text = JSON.stringify({ manifest: project.written, files: Object.fromEntries(project.files) }, null, 2)
    yield* Effect.try({
      try: () => writeFileSync(file, `${text}\n`),
      catch: (error) =>
        new CommandFailed({
          message: `${file} cannot be written: ${error instanceof Error ? error.message : "it failed"}`
        })
    })
    const { name, version } = manifest
    yield* Output.done(
      { name, version, file, integrity: project.integrity, bytes: Buffer.byteLength(text) + 1 },
      `${file} holds ${name} ${version} (${project.integrity}).`,
      file
    )
  })
)
