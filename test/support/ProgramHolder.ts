/** A stand-in for a gateway that is killed: holds three programs, given by a folder for records and a JavaScript text, and prints their lines. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SupervisedProgram from "../../src/platform/programs/SupervisedProgram.ts"
import * as Timers from "../../src/platform/Timers.ts"

const [recordsFolder = "", script = ""] = process.argv.slice(2)

const held = Effect.gen(function* () {
  const programs = yield* SupervisedProgram.SupervisedPrograms
  for (let count = 0; count < 3; count += 1) {
    yield* programs.start({
      command: process.execPath,
      args: ["-e", script],
      environment: {},
      onLine: (line) => void process.stdout.write(`${line}\n`)
    })
  }
  yield* Effect.never
})

Effect.runFork(
  held.pipe(Effect.scoped, Effect.provide(SupervisedProgram.layer({ recordsFolder }).pipe(Layer.provide(Timers.layer))))
)
