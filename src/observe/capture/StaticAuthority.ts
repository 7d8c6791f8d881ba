/**
 * The certificate authority of the HTTP proxy and of custom hosts. It is made when it is first needed and lasts; its key is in a file that
 * only the gateway's user can read (`<data folder>/capture/authority`), and goes nowhere else.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import { exists, readBounded, replaceFile } from "./host/undo/files.mjs"
import { ensureFolder } from "./host/undo/restore.mjs"
import * as CertificateAuthority from "./tls/CertificateAuthority.ts"
import { makeLane } from "../../kernel/Lane.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** The files cannot be written, or are no authority. `problem` is a sentence. */
export class AuthorityFailed extends Data.TaggedError("CaptureAuthorityFailed")<{ readonly problem: string }> {
  override get message(): string {
    return this.problem
  }
}

type Authority = CertificateAuthority.CertificateAuthority

export interface StaticAuthority {
  /** File of the certificate: PEM, readable for all. */
  readonly certificateFile: string
  /** Null: none was made yet. */
  readonly current: Effect.Effect<Authority | null, AuthorityFailed>
  /** Makes it when there is none. */
  readonly get: Effect.Effect<Authority, AuthorityFailed>
  /** Another one in its place. What the one before signed is good for nothing then. */
  readonly regenerate: Effect.Effect<Authority, AuthorityFailed>
}

const purpose = "Gateway traffic inspector"

const failed = (what: string) => (error: unknown) =>
  new AuthorityFailed({ problem: `${what}: ${asSentence(error instanceof Error ? error.message : String(error))}` })

export const certificateFileIn = (dataDir: string): string => join(dataDir, "capture", "authority", "ca.crt")

export const make = (dataDir: string): Effect.Effect<StaticAuthority> =>
  Effect.sync(() => {
    const oneAtATime = makeLane(1)
    const folder = join(dataDir, "capture", "authority")
    const certificateFile = certificateFileIn(dataDir)
    const keyFile = join(folder, "ca.key")
    let loaded: Authority | null = null

    const read = Effect.suspend(() => {
      if (!exists(certificateFile) || !exists(keyFile)) return Effect.succeed(null)
      return Effect.try({
        try: () => ({
          certificate: readBounded(certificateFile).bytes.toString("utf8"),
          privateKey: Redacted.make(readBounded(keyFile).bytes.toString("utf8"))
        }),
        catch: failed("The files of the certificate authority cannot be read")
      }).pipe(
        Effect.flatMap((kept) =>
          Effect.mapError(
            CertificateAuthority.restore(kept),
            () =>
              new AuthorityFailed({
                problem: `The files in ${folder} are no certificate authority. Make another with 'POST /api/tools/agent-bridge/cert/regenerate'.`
              })
          )
        )
      )
    })

    const current = Effect.suspend(() =>
      loaded === null ? Effect.tap(read, (found) => Effect.sync(() => (loaded = found))) : Effect.succeed(loaded)
    )

    const made = Effect.gen(function* () {
      const authority = yield* CertificateAuthority.make(purpose)
      const { certificate, privateKey } = authority.exported()
      yield* Effect.try({
        try: () => {
          ensureFolder(folder)
          replaceFile(keyFile, Redacted.value(privateKey), 0o600)
          replaceFile(certificateFile, certificate, 0o644)
        },
        catch: failed("The files of the certificate authority cannot be written")
      })
      loaded = authority
      return authority
    })

    return {
      certificateFile,
      current: oneAtATime.inTurn(current),
      get: oneAtATime.inTurn(Effect.flatMap(current, (found) => (found === null ? made : Effect.succeed(found)))),
      regenerate: oneAtATime.inTurn(made)
    }
  })
