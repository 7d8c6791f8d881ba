/**
 * Tunnels over SSH: a remote forward of OpenSSH's client to a server of the user. The server's host key is pinned before anything else
 * happens, the user's own configuration is not read, and nothing is asked for. https://man.openbsd.org/ssh.1#R
 */
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Dns } from "../../egress/Dns.ts"
import { addressFamily, judgeAddress, judgeHost, providerPolicy } from "../../egress/OutboundPolicy.ts"
import { Flags } from "../../../subjects/flags/service.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { programEnvironment } from "../../../platform/programs/ProgramEnvironment.ts"
import { findProgram } from "../../../platform/programs/ProgramPath.ts"
import { SupervisedPrograms } from "../../../platform/programs/SupervisedProgram.ts"
import { type Backend, TunnelFailed, TunnelNeedsAuth } from "../Backend.ts"
import type { Entrance } from "../TunnelEntrance.ts"
import { algorithmsOf, byPreference, fingerprintOf, hostAlias, type HostKey, readHostKey } from "./HostKeys.ts"
import { type SshOptions, sshProblem, urlHost } from "./Options.ts"
import { nothingYet, readLine, reasonOfEnd, type SshOutput } from "./Output.ts"
import { runToEnd } from "./ShortProgram.ts"
import { identityFile, knownHostsFile, ownPublicKey, readPinned, writePinned } from "./SshFiles.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export class SshBackend extends Context.Tag("gateway/net/tunnels/ssh/SshBackend")<SshBackend, Backend<SshOptions>>() {}

const warning =
  "The address is plain HTTP unless the server adds TLS, so keys can be read on the way to it. The server's GatewayPorts decides whether other machines can reach the port."

export const sshLimits = {
  /** Time limit in ms from the start of ssh to the forward. */
  openMs: 20_000,
  connectSeconds: 10,
  /** A server that does not answer for so long, three times, is lost. */
  aliveSeconds: 15,
  scanSeconds: 5,
  resolveMs: 5_000
}

/** Keys of the user that are offered beside the gateway's own, where they exist. */
const userKeys = ["~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"]

const failed = (reason: string, isFinal = false): TunnelFailed => new TunnelFailed({ reason, isFinal })

/** Finds what all connections have in common. */
const makeSetting = Effect.gen(function* () {
  const { dataDir, environment } = yield* AppConfig
  const agent = environment.get("SSH_AUTH_SOCK")
  const childEnvironment = {
    ...programEnvironment(environment),
    ...(agent === undefined ? {} : { SSH_AUTH_SOCK: agent })
  }

  const installed = (name: string) =>
    Effect.flatMap(findProgram(environment, name), (path) =>
      path === null ? failed(`'${name}' is not on the PATH. Install OpenSSH's client.`, true) : Effect.succeed(path)
    )
  return { childEnvironment, folder: join(dataDir, "tunnels"), installed }
})

type Setting = Effect.Effect.Success<typeof makeSetting>

/** The address that is connected to: ssh does not ask for it again, so that no other answer can get past the policy. */
const addressOf = (host: string) =>
  Effect.gen(function* () {
    const flags = yield* Flags
    const dns = yield* Dns
    const policy = providerPolicy(flags.isOn)
    const refused = failed("The outbound policy does not allow the address of the server.", true)
    if (judgeHost(host, policy)._tag === "Blocked") return yield* refused
    if (addressFamily(host) !== 0) return host
    const addresses = yield* Effect.tryPromise(() => dns.resolve(host)).pipe(
      Effect.timeout(sshLimits.resolveMs),
      Effect.mapError(() => failed("The name of the server does not resolve."))
    )
    if (addresses.some((address) => judgeAddress(address, policy)._tag === "Blocked")) return yield* refused
    const [address] = addresses
    return address ?? (yield* failed("The name of the server does not resolve."))
  })

const scan = ({ childEnvironment, installed }: Setting, address: string, port: number) =>
  Effect.gen(function* () {
    const keyscan = yield* installed("ssh-keyscan")
    const { lines } = yield* runToEnd(
      keyscan,
      ["-T", String(sshLimits.scanSeconds), "-p", String(port), "-t", "ed25519,ecdsa,rsa", "--", address],
      childEnvironment,
      3 * sshLimits.scanSeconds * 1_000
    ).pipe(Effect.mapError(({ problem }) => failed(`ssh-keyscan ${asSentence(problem)}`, true)))
    const keys = lines.map(readHostKey).filter((key) => key !== null)
    return keys.length > 0
      ? byPreference(keys)
      : yield* failed("The server showed no host key: it is not reachable, or no SSH server.")
  })

/** The pinned key of the server. Only a fingerprint that a person has given pins one. */
const hostKeyOf = (setting: Setting, { host, hostKey, port }: SshOptions, address: string, file: string) =>
  Effect.gen(function* () {
    const pinned = yield* readPinned(file)
    if (pinned !== null && (hostKey === null || fingerprintOf(pinned) === hostKey)) return pinned
    const shown = yield* scan(setting, address, port)
    const found = shown.find((key) => fingerprintOf(key) === hostKey)
    if (found !== undefined) {
      yield* writePinned(file, found)
      return found
    }
    const prints = shown.map((key) => `${fingerprintOf(key)} (${key.type})`).join(", ")
    if (hostKey !== null) {
      return yield* failed(
        `The server shows another host key than the given one: ${prints}. Nothing was sent to it.`,
        true
      )
    }
    return yield* new TunnelNeedsAuth({
      reason: `The host key of ${host} is not known yet. It shows ${prints}. Compare that with 'ssh-keygen -lf' of the files /etc/ssh/ssh_host_*_key.pub on the server, and give the fingerprint as host key if it is the same.`,
      authUrl: null
    })
  })

interface Server {
  readonly address: string
  /** File of its pinned key. */
  readonly file: string
  readonly key: HostKey
}

const argumentsOf = (folder: string, options: SshOptions, entrance: Entrance, { address, file, key }: Server) => {
  const settings: Readonly<Record<string, string | number>> = {
    HostName: address,
    HostKeyAlias: hostAlias,
    HostKeyAlgorithms: algorithmsOf(key),
    UserKnownHostsFile: file,
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: "yes",
    UpdateHostKeys: "no",
    CheckHostIP: "no",
    VerifyHostKeyDNS: "no",
    BatchMode: "yes",
    PreferredAuthentications: "publickey",
    ExitOnForwardFailure: "yes",
    ServerAliveInterval: sshLimits.aliveSeconds,
    ServerAliveCountMax: 3,
    ConnectTimeout: sshLimits.connectSeconds,
    ControlMaster: "no",
    ControlPath: "none",
    ForwardAgent: "no",
    ForwardX11: "no",
    PermitLocalCommand: "no",
    EscapeChar: "none"
  }
  return [
    "-N",
    "-T",
    "-v",
    "-F",
    "/dev/null",
    ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    // Paths with spaces are read as several without the quotes.
    ...[identityFile(folder), ...userKeys].flatMap((path) => ["-o", `IdentityFile="${path}"`]),
    "-R",
    `*:${options.remotePort}:${entrance.host}:${entrance.port}`,
    "-p",
    String(options.port),
    "-l",
    options.user,
    "--",
    hostAlias
  ]
}

/** Explains the end of ssh by its output. */
const endOf = (
  output: SshOutput,
  options: SshOptions,
  publicKey: string,
  problem: string
): Effect.Effect<never, TunnelFailed | TunnelNeedsAuth> => {
  switch (output.end) {
    case "refusedKey":
      return new TunnelNeedsAuth({
        reason: `The server does not let '${options.user}' in with the gateway's key or those of this user. Add this line to the file ~/.ssh/authorized_keys of '${options.user}' on the server: ${publicKey}`,
        authUrl: null
      })
    case "wrongHostKey":
      return failed(
        "The server does not show the pinned host key. It was installed anew, or another one answers.",
        true
      )
    case "refusedForward":
      return failed(
        options.remotePort === 0
          ? "The server does not allow a remote forward (AllowTcpForwarding)."
          : `The server does not forward port ${options.remotePort}: it is in use there, or not allowed.`
      )
    case null:
      return failed(reasonOfEnd(output, problem))
  }
}

export const make = Effect.gen(function* () {
  const setting = yield* makeSetting
  // Without the scope of this layer: what a run starts ends with the run.
  const services = Context.pick(
    Dns,
    Flags,
    SupervisedPrograms
  )(yield* Effect.context<Dns | Flags | SupervisedPrograms>())
  const programs = yield* SupervisedPrograms
  const { childEnvironment, folder, installed } = setting

  const run: Backend<SshOptions>["run"] = (options, entrance, opened) =>
    Effect.gen(function* () {
      const problem = sshProblem(options)
      if (problem !== null) return yield* failed(problem.message, true)
      const ssh = yield* installed("ssh")
      const publicKey = yield* ownPublicKey(yield* installed("ssh-keygen"), folder, childEnvironment)
      const address = yield* addressOf(options.host)
      const file = knownHostsFile(folder, options.host, options.port)
      const key = yield* hostKeyOf(setting, options, address, file)

      const isOpen = yield* Deferred.make<number>()
      let output = nothingYet
      const { ended } = yield* programs
        .start({
          command: ssh,
          args: argumentsOf(folder, options, entrance, { address, file, key }),
          environment: childEnvironment,
          onLine: (line) => {
            output = readLine(output, line)
            if (output.remotePort !== null) Deferred.unsafeDone(isOpen, Effect.succeed(output.remotePort))
          }
        })
        .pipe(Effect.mapError((error) => failed(`ssh ${asSentence(error.problem)}`, true)))

      const end = Effect.flatMap(ended, (over) => endOf(output, options, publicKey, over.problem))
      const silence = Effect.delay(
        Effect.suspend(() => failed(`ssh did not open the forward within ${sshLimits.openMs / 1_000} seconds.`)),
        sshLimits.openMs
      )
      const remotePort = yield* Effect.raceFirst(Deferred.await(isOpen), Effect.raceFirst(end, silence))
      yield* opened({ publicUrl: `http://${urlHost(options.host)}:${remotePort}` })
      return yield* end
    }).pipe(Effect.provide(services))

  return SshBackend.of({ name: "ssh", warning, run })
})

export const layer: Layer.Layer<SshBackend, never, AppConfig | Flags | Dns | SupervisedPrograms> = Layer.effect(
  SshBackend,
  make
)
