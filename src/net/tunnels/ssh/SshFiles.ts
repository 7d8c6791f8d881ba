/** The files of tunnels over SSH in `<data folder>/tunnels`: the gateway's own key, and one file per server with its pinned host key. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { TunnelFailed } from "../Backend.ts"
import { type HostKey, knownHostsLine, readHostKey } from "./HostKeys.ts"
import { runToEnd } from "./ShortProgram.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

const keygenMs = 10_000

const cannotWrite = (): TunnelFailed =>
  new TunnelFailed({ reason: "The folder 'tunnels' of the data folder cannot be read and written.", isFinal: true })

const onFiles = <A>(run: () => A): Effect.Effect<A, TunnelFailed> => Effect.try({ try: run, catch: cannotWrite })

export const identityFile = (folder: string): string => join(folder, "id_ed25519")

export const knownHostsFile = (folder: string, host: string, port: number): string => {
  const name = createHash("sha256").update(`${host.toLowerCase()} ${port}`).digest("hex").slice(0, 32)
  return join(folder, `known_hosts-${name}`)
}

/** Null: none is pinned. */
export const readPinned = (file: string): Effect.Effect<HostKey | null, TunnelFailed> =>
  onFiles(() => (existsSync(file) ? readHostKey(readFileSync(file, "utf8")) : null))

export const writePinned = (file: string, key: HostKey): Effect.Effect<void, TunnelFailed> =>
  onFiles(() => {
    writeFileSync(`${file}.new`, knownHostsLine(key), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  })

/** The line for `authorized_keys` of the gateway's own key, which is made when it is not there. */
export const ownPublicKey = Effect.fn("ssh.ownPublicKey")(function* (
  keygen: string,
  folder: string,
  environment: Readonly<Record<string, string>>
) {
  const file = identityFile(folder)
  yield* onFiles(() => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  if (!(yield* onFiles(() => existsSync(file) && existsSync(`${file}.pub`)))) {
    const fresh = `${file}.new`
    yield* onFiles(() => {
      for (const left of [fresh, `${fresh}.pub`, file]) rmSync(left, { force: true })
    })
    const made = yield* runToEnd(
      keygen,
      ["-q", "-t", "ed25519", "-N", "", "-C", "gateway-tunnel", "-f", fresh],
      environment,
      keygenMs
    ).pipe(
      Effect.mapError(({ problem }) => new TunnelFailed({ reason: `ssh-keygen ${asSentence(problem)}`, isFinal: true }))
    )
    if (made.code !== 0) return yield* new TunnelFailed({ reason: "ssh-keygen made no key.", isFinal: true })
    yield* onFiles(() => {
      renameSync(`${fresh}.pub`, `${file}.pub`)
      renameSync(fresh, file)
    })
  }
  return yield* onFiles(() => readFileSync(`${file}.pub`, "utf8").trim())
})
