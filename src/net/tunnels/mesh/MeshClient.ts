/** Runs `tailscale` and other programs of the system, as this user and, where that is refused, as root by `sudo`. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { scrubber } from "../../../kernel/secrets/Scrub.ts"
import { findProgram, type HostSystem } from "../../../platform/HostSystem.ts"
import { programEnvironment } from "../../../platform/programs/ProgramEnvironment.ts"
import type { SupervisedPrograms } from "../../../platform/programs/SupervisedProgram.ts"
import { type Command, type CommandResult, makeRunCommand } from "./Command.ts"
import { failed, type MeshToolFailed } from "./Failures.ts"
import { refusalReason, sudoPasswordProblem, sudoRefusal, withoutPassword, withPassword } from "./Sudo.ts"
import { isAccessDenied, isDaemonDown } from "./Texts.ts"
import { type MeshState, readStatus } from "./Status.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

/** Time limit in ms of an ordinary command: it asks the daemon of this machine. */
export const commandMs = 10_000

export type Extra = Partial<Pick<Command, "timeoutMs" | "isEnough" | "onLine">>

export interface MeshClient {
  readonly host: HostSystem
  /** The path of a program; null: there is none. */
  readonly find: (name: string) => Effect.Effect<string | null>
  /** The path of `tailscale`; fails when it is not installed. */
  readonly binary: Effect.Effect<string, MeshToolFailed>
  readonly run: (
    program: string,
    args: ReadonlyArray<string>,
    extra?: Extra
  ) => Effect.Effect<CommandResult, MeshToolFailed>
  /** Runs a program as root: directly, by `sudo` without a password, or with it. One try with a password. */
  readonly asRoot: (
    program: string,
    args: ReadonlyArray<string>,
    password: Redacted.Redacted | null,
    extra?: Extra
  ) => Effect.Effect<CommandResult, MeshToolFailed>
  /** `tailscale` as this user, and as root where the daemon refuses that. */
  readonly tailscale: (
    args: ReadonlyArray<string>,
    password: Redacted.Redacted | null,
    extra?: Extra
  ) => Effect.Effect<CommandResult, MeshToolFailed>
  /** Null: the daemon does not run. */
  readonly state: Effect.Effect<MeshState | null, MeshToolFailed>
}

/** Removes the password from what people are shown. */
export const cleaned = (password: Redacted.Redacted | null): ((text: string) => string) =>
  scrubber(password === null ? [] : [Redacted.value(password)])

export const notInstalled =
  "Tailscale is not installed on this machine. Install it from https://tailscale.com/download, or let the gateway do it ('install' of the mesh tunnel)."

export const makeMeshClient = (
  programs: typeof SupervisedPrograms.Service,
  environment: ReadonlyMap<string, string>,
  host: HostSystem
): MeshClient => {
  const runCommand = makeRunCommand(programs, {
    ...programEnvironment(environment),
    // Their texts are read.
    LANG: "C",
    LC_ALL: "C"
  })

  const attempt = (program: string, args: ReadonlyArray<string>, input: Redacted.Redacted | null, extra: Extra) =>
    runCommand({ program, args, input, timeoutMs: commandMs, ...extra }).pipe(
      Effect.mapError(({ problem }) => failed(`'${program}' ${asSentence(problem)}`))
    )

  const find: MeshClient["find"] = (name) => findProgram(name, environment)

  const binary: MeshClient["binary"] = Effect.suspend(() => {
    const own = environment.get("MESH_TUNNEL_BIN")?.trim() ?? ""
    return Effect.flatMap(find(own === "" ? "tailscale" : own), (path) => {
      if (path !== null) return Effect.succeed(path)
      return own === "" ? failed(notInstalled) : failed("MESH_TUNNEL_BIN is not the path of a program.")
    })
  })

  const run: MeshClient["run"] = (program, args, extra = {}) => attempt(program, args, null, extra)

  const asRoot: MeshClient["asRoot"] = Effect.fn("MeshClient.asRoot")(function* (program, args, password, extra = {}) {
    if (host.isRoot) return yield* run(program, args, extra)
    const sudo = yield* find("sudo")
    if (sudo === null) return yield* failed("This needs the rights of root, and 'sudo' is not on this machine.")
    const asked = yield* attempt(sudo, withoutPassword(program, args), null, extra)
    const refusal = sudoRefusal(asked)
    if (refusal === null) return asked
    if (refusal !== "password-needed" || password === null) return yield* failed(refusalReason[refusal])
    const problem = sudoPasswordProblem(password)
    if (problem !== null) return yield* failed(`The password for 'sudo' ${asSentence(problem)}`)
    const line = Redacted.make(`${Redacted.value(password)}\n`)
    const result = yield* attempt(sudo, withPassword(program, args), line, extra)
    const again = sudoRefusal(result)
    return again === null ? result : yield* failed(refusalReason[again])
  })

  const tailscale: MeshClient["tailscale"] = Effect.fn("MeshClient.tailscale")(function* (args, password, extra = {}) {
    const program = yield* binary
    const result = yield* run(program, args, extra)
    return isAccessDenied(result) && !host.isRoot ? yield* asRoot(program, args, password, extra) : result
  })

  const state: MeshClient["state"] = Effect.gen(function* () {
    // Without the other machines of the network: there may be thousands.
    const result = yield* run(yield* binary, ["status", "--json", "--peers=false"])
    const status = readStatus(result.stdout)
    if (status !== null) return status
    if (isDaemonDown(result)) return null
    if (result.stoppedBy === "time") return yield* failed("Tailscale does not answer.")
    return yield* failed("Tailscale answers with a status that cannot be read.")
  })

  return { host, find, binary, run, asRoot, tailscale, state }
}
