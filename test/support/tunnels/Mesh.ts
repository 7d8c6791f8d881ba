/** A folder with programs that stand for `tailscale`, `sudo` and those of the system, and the layers over them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import type { HostSystem } from "../../../src/platform/HostSystem.ts"
import * as SupervisedProgram from "../../../src/platform/programs/SupervisedProgram.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import * as MeshBackend from "../../../src/net/tunnels/mesh/MeshBackend.ts"
import * as MeshFunnel from "../../../src/net/tunnels/mesh/MeshFunnel.ts"
import * as MeshTools from "../../../src/net/tunnels/mesh/MeshTools.ts"
import { temporaryFolder } from "../TemporaryFolder.ts"

const here = dirname(fileURLToPath(import.meta.url))

/** State that `fakeTailscale.mjs` reads. */
export interface FakeState {
  readonly version: string
  readonly backendState: string
  readonly authUrl: string
  readonly loginId: string
  readonly nodeId: string
  readonly dnsName: string
  readonly daemon: boolean
  readonly denies: boolean
  readonly hangs: boolean
  readonly floods: boolean
  readonly grammar: "old" | "new"
  readonly funnel: "ok" | "not-enabled" | "not-enabled-exits" | "hangs" | "fails" | "tailnet-only"
  readonly up: "ok" | "denied" | "silent" | "fails"
  readonly serve: unknown
}

const usual: FakeState = {
  version: "1.80.3",
  backendState: "Running",
  authUrl: "",
  loginId: "0123456789abcdef",
  nodeId: "nABCDEFCNTRL",
  dnsName: "box.tail1234.ts.net",
  daemon: true,
  denies: false,
  hangs: false,
  floods: false,
  grammar: "new",
  funnel: "ok",
  up: "ok",
  serve: null
}

export interface Call {
  readonly program: string
  readonly args?: ReadonlyArray<string>
  readonly flags?: ReadonlyArray<string>
  readonly command?: ReadonlyArray<string>
  readonly isRoot?: boolean
  readonly isRefused?: boolean
  readonly environment: ReadonlyArray<string>
}

export interface FakeHome {
  readonly folder: string
  readonly environment: ReadonlyMap<string, string>
  readonly state: () => FakeState & { readonly hostname?: string }
  readonly change: (fields: Partial<FakeState>) => void
  readonly calls: () => ReadonlyArray<Call>
  /** The text of all that the programs were given. */
  readonly callText: () => string
  /** The record of the funnel that was opened, or null. */
  readonly record: () => unknown
  /** Puts a program on the `PATH` that does nothing, or this. */
  readonly place: (name: string, script?: string) => void
}

/** `password` of sudo: null: it asks for none. Undefined: there is no sudo. */
export const fakeHome = (
  fields: Partial<FakeState> = {},
  password?: string | null
): Effect.Effect<FakeHome, never, Scope.Scope> =>
  Effect.map(temporaryFolder, (folder) => {
    const bin = join(folder, "bin")
    mkdirSync(bin)
    const place = (name: string, script = "#!/bin/sh\nexit 0\n"): void => {
      writeFileSync(join(bin, name), script)
      chmodSync(join(bin, name), 0o755)
    }
    const copy = (from: string, name: string): void => {
      copyFileSync(join(here, from), join(bin, name))
      chmodSync(join(bin, name), 0o755)
    }
    // Nothing of the machine's own is on the PATH but what the scripts need.
    symlinkSync(process.execPath, join(bin, "node"))
    copy("fakeTailscale.mjs", "tailscale")
    if (password !== undefined) {
      copy("fakeSudo.mjs", "sudo")
      writeFileSync(join(folder, "sudo.json"), JSON.stringify({ password }))
    }
    const stateFile = join(folder, "tailscale.json")
    writeFileSync(stateFile, JSON.stringify({ ...usual, ...fields }))
    const state = () => JSON.parse(readFileSync(stateFile, "utf8"))
    const callText = (): string => {
      const file = join(folder, "calls.jsonl")
      return existsSync(file) ? readFileSync(file, "utf8") : ""
    }
    const recordFile = join(folder, "data", "mesh-funnel.json")
    return {
      folder,
      environment: new Map([
        ["PATH", bin],
        ["HOME", folder],
        ["GATEWAY_ADMIN_KEY", "not for programs"]
      ]),
      state,
      change: (changed) => writeFileSync(stateFile, JSON.stringify({ ...state(), ...changed })),
      callText,
      calls: () =>
        callText()
          .split("\n")
          .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Call])),
      record: () => (existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : null),
      place
    }
  })

export const debian: HostSystem = {
  platform: "linux",
  isRoot: false,
  osRelease: new Map([
    ["ID", "debian"],
    ["VERSION_ID", "12"],
    ["VERSION_CODENAME", "bookworm"]
  ])
}

/** One run of a gateway: the services until its scope ends. */
export const meshAt = ({ environment, folder }: FakeHome, host: HostSystem = debian) => {
  const config = AppConfig.layerOf({ dataDir: join(folder, "data"), environment })
  const programs = SupervisedProgram.layer({ recordsFolder: join(folder, "programs") }).pipe(
    Layer.provide(Timers.layer)
  )
  const funnel = Layer.scoped(MeshFunnel.MeshFunnel, MeshFunnel.makeWith(host)).pipe(
    Layer.provide(Layer.merge(config, programs))
  )
  return Effect.map(
    Layer.build(Layer.mergeAll(MeshTools.layer, MeshBackend.layer).pipe(Layer.provideMerge(funnel))),
    (context) => ({
      tools: Context.get(context, MeshTools.MeshTools),
      backend: Context.get(context, MeshBackend.MeshBackend),
      funnel: Context.get(context, MeshFunnel.MeshFunnel)
    })
  )
}
