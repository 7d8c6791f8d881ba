/**
 * `<DATA_DIR>/.env`: settings that `gateway env set` keeps and every start reads below the real environment.
 * One `NAME='value'` per line; the file holds secrets, so only its owner may read it.
 */
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import * as AppConfig from "../../platform/AppConfig.ts"
import { CommonFlags } from "./CommonFlags.ts"
import { enter, type EnvContent, envFile, line, parse, read as readText } from "../../platform/EnvText.ts"
import { accessProblem, isThere } from "../../platform/files/PathAccess.ts"
import { CommandFailed, wrongConfig } from "../Failure.ts"
import { loadModule } from "../lazy.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export { envFile, line, parse }

const unusable = (file: string, error: unknown): string => {
  const problem = accessProblem(file, "read") ?? accessProblem(dirname(file), "read")
  if (problem !== null) return `${problem.path} cannot be used: ${asSentence(problem.reason)}`
  const code = error instanceof Error && "code" in error ? error.code : null
  const reason =
    code === "EISDIR"
      ? "a folder is in the place of the settings file; move it away"
      : error instanceof Error
        ? error.message
        : String(error)
  return `${file} cannot be used: ${asSentence(reason)}`
}

const onFile = <A>(file: string, run: () => A): Effect.Effect<A, CommandFailed> =>
  Effect.try({
    try: run,
    catch: (error) =>
      new CommandFailed({
        message: unusable(file, error),
        hint: "Check the permissions of the data folder, or set DATA_DIR to another one."
      })
  })

const nothing: EnvContent = { values: new Map(), problems: [] }

const mostProblems = 5

/** Reads the values of the file; none when there is no file. A line that cannot be read fails with its number. */
export const read = (folder: string): Effect.Effect<ReadonlyMap<string, string>, CommandFailed> => {
  const file = envFile(folder)
  return Effect.flatMap(
    onFile(file, () => (isThere(file) ? readText(readFileSync(file, "utf8")) : nothing)),
    ({ problems, values }) =>
      problems.length === 0
        ? Effect.succeed(values)
        : Effect.fail(
            new CommandFailed({
              message: `${file} cannot be read: ${problems
                .slice(0, mostProblems)
                .map(({ line: number, problem }) => `line ${number}: ${problem}`)
                .join("; ")}.`,
              hint: "Correct the file by hand: no setting in it is left out silently."
            })
          )
  )
}

/** Replaces the file, whole or not at all. */
export const write = (folder: string, values: ReadonlyMap<string, string>): Effect.Effect<void, CommandFailed> => {
  const file = envFile(folder)
  const lines = [...values].map(([name, value]) => line(name, value))
  if (lines.includes(null)) {
    return Effect.fail(
      new CommandFailed({ message: "A value that holds every kind of quote cannot be kept in the file." })
    )
  }
  return onFile(file, () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const fresh = `${file}.new`
    writeFileSync(fresh, `${lines.join("\n")}\n`, { mode: 0o600 })
    chmodSync(fresh, 0o600)
    renameSync(fresh, file)
  })
}

/** Describes the values of variables that the feature flags cannot read; in the flags' own text. */
export const flagProblems = (environment: ReadonlyMap<string, string>): Effect.Effect<string | null, CommandFailed> =>
  Effect.map(
    loadModule(() => import("../../subjects/flags/service.ts")),
    ({ environmentProblems }) => {
      const problems = environmentProblems(environment)
      return problems.length === 0 ? null : problems.join("; ")
    }
  )

const environmentConfig = Effect.catchAll(AppConfig.make, wrongConfig)

/** The data folder the real environment names. The file cannot name another one. */
export const dataDir = Effect.map(environmentConfig, (config) => config.dataDir)

/** Reads the file into the environment of this process, below what is there; what it held before gives way. */
export const reload: Effect.Effect<void, CommandFailed> = Effect.map(Effect.flatMap(dataDir, read), enter)

/** The configuration with the file's values below the real environment: where every command but `env` starts. */
export const loadConfig: Effect.Effect<AppConfig.AppConfigShape, CommandFailed> = Effect.zipWith(
  Effect.zipRight(reload, environmentConfig),
  CommonFlags,
  (config, { port }) => (port === null ? config : { ...config, port })
)
