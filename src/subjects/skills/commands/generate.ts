/** `gateway skills generate`: on the gateway's machine, or into a folder here. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { resolve } from "node:path"
import { GeneratedSkills, GenerateSkills } from "../routes.ts"
import { isSkillId } from "../entity.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"

const out = Options.text("out").pipe(
  Options.withDescription("Write into this folder here instead of the gateway's data folder, to publish them."),
  Options.optional
)
const only = Options.text("only").pipe(
  Options.withDescription("Only this skill. May be given several times."),
  Options.repeated
)
const dryRun = Options.boolean("dry-run").pipe(Options.withDescription("Only say what would be done."))
const prune = Options.boolean("prune").pipe(Options.withDescription("Remove folders among the skills that are none."))

/** Writes what the gateway has into a folder of this machine. */
const publish = (to: Client.Target, folder: string, payload: typeof GenerateSkills.Type) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "agentSkills")
    const { renew } = yield* loadModule(() => import("../../../agents/skills/renew.ts"))
    const { skills } = yield* client.list({ urlParams: {} }).pipe(Client.orExplain(to))
    const wanted = skills.map(({ id }) => id).filter(isSkillId)
    const pages = new Map<string, string>()
    for (const id of payload.onlyIds ?? wanted) {
      pages.set(id, yield* client.raw({ path: { id } }).pipe(Client.orExplain(to)))
    }
    const report = yield* renew({
      folder,
      ids: payload.onlyIds ?? wanted,
      pageOf: (id) => Effect.succeed(pages.get(id) ?? ""),
      dryRun: payload.dryRun ?? false,
      prune: payload.prune ?? false
    })
    return { ...report, folder }
  })

const summary = (
  { errors, folder, generated, orphansDetected, pruned, unchanged }: GeneratedSkills,
  dry: boolean
): string =>
  [
    `${dry ? "Would write" : "Wrote"} ${Output.counted(generated.length, "skill")} to ${folder}, ${unchanged.length} unchanged.`,
    ...(pruned.length === 0 ? [] : [`${dry ? "Would remove" : "Removed"}: ${pruned.join(", ")}`]),
    ...(orphansDetected.length > pruned.length ? [`No skills, and still there: ${orphansDetected.join(", ")}`] : []),
    ...errors.map(({ id, message }) => `${id}: ${message}`)
  ].join("\n")

export const skillsGenerate = Command.make(
  "generate",
  { out, only, dryRun, prune, ...Client.connection },
  ({ dryRun: dry, only: ids, out: folder, prune: removes, ...given }) =>
    Effect.gen(function* () {
      const payload = yield* body(
        GenerateSkills,
        { dryRun: dry, prune: removes, ...(ids.length === 0 ? {} : { onlyIds: ids }) },
        { onlyIds: "--only" }
      )
      const to = yield* Client.target(given)
      const report = yield* Option.match(folder, {
        onNone: () =>
          Effect.flatMap(Client.group(to, "agentSkills"), (client) =>
            client.generate({ payload }).pipe(Client.orExplain(to))
          ),
        onSome: (path) => publish(to, resolve(path), payload)
      })
      yield* Output.result({
        schema: GeneratedSkills,
        value: report,
        text: Output.print(summary(report, dry)),
        name: report.folder
      })
      if (report.errors.length > 0) return yield* new CommandFailed({ message: "Not all files could be written." })
    })
)
