/** `gateway capture restore`: undoes the changes of ended gateways on this machine. Needs no running gateway. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { loadConfig } from "../../../cli/flags/EnvFile.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export const captureRestore = Command.make("restore", {}, () =>
  Effect.gen(function* () {
    const { dataDir } = yield* loadConfig
    const { restoreFolder } = yield* loadModule(() => import("../../../observe/capture/host/HostJournal.ts"))
    const report = yield* restoreFolder(dataDir)
    const { failed, kept, live, restored } = report
    const lines = [
      ...restored.map(({ what }) => `Taken back: ${what}.`),
      ...kept.map(({ what }) => `Taken back, but for what somebody else has changed meanwhile: ${what}.`),
      ...live.map(({ what }) => `Left, because its gateway runs: ${what}.`),
      ...(restored.length + kept.length + live.length + failed.length === 0 ? ["There is nothing to take back."] : [])
    ]
    yield* Output.result({
      schema: Schema.Unknown,
      value: report,
      text: Effect.forEach(lines, Output.note, { discard: true }),
      name: restored.map(({ id }) => id).join(" ")
    })
    const [first] = failed
    if (first !== undefined) {
      return yield* new CommandFailed({
        message: `Not everything could be taken back: ${asSentence(failed.map(({ problem, what }) => `${what}: ${problem}`).join("; "))}`,
        hint: "Run it again as root."
      })
    }
  })
)
