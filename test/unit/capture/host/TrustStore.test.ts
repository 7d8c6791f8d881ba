import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as HostJournal from "../../../../src/observe/capture/host/HostJournal.ts"
import { type ProgramStores, removalSteps } from "../../../../src/observe/capture/host/trust/Stores.ts"
import * as TrustStore from "../../../../src/observe/capture/host/TrustStore.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { hasKeytool, hasNss, hasTools, makeAuthority, makeTrustFolders } from "../../../support/TrustFolders.ts"

const slot = "gateway-tproxy-ca.crt"
const nobody: ProgramStores = { nss: null, java: null }
const path = process.env["PATH"] ?? ""
const which = (program: string): string =>
  execFileSync("/bin/sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim()

const services = (
  dataDir: string,
  stores: TrustStore.Stores
): Layer.Layer<TrustStore.TrustStore | HostJournal.HostJournal> =>
  Layer.scoped(TrustStore.TrustStore, TrustStore.makeFor(stores)).pipe(
    Layer.provideMerge(HostJournal.layer),
    Layer.provide(AppConfig.layerOf({ dataDir, environment: new Map([["PATH", path]]) }))
  )

const session = (pem: string): TrustStore.Install => ({ slot, pem, sudoPassword: null, lifetime: "session" })

describe.runIf(hasTools)("the trust store", () => {
  it.scopedLive("trusts an authority for a session, and is as it was afterwards: file, links, bundle, hooks", () =>
    Effect.gen(function* () {
      const [root, dataDir] = [yield* temporaryFolder, yield* temporaryFolder]
      const folders = makeTrustFolders(root)
      const before = folders.snapshot()
      const pem = makeAuthority(dataDir, "ours")
      yield* Effect.gen(function* () {
        const trust = yield* TrustStore.TrustStore
        assert.deepStrictEqual(yield* trust.install(session(pem)), { warnings: [] })
        assert.isTrue(yield* trust.isTrusted(slot, pem))
        // The bundle, the file, the link and the link by its hash.
        assert.lengthOf(yield* trust.places(slot, pem), 4)
        assert.include(readFileSync(folders.hookState, "utf8"), "gateway-tproxy-ca.pem")
        const verified = spawnSync("openssl", ["verify", "-CAfile", folders.store.bundle, join(dataDir, "ours.pem")])
        assert.strictEqual(verified.status, 0)
      }).pipe(Effect.provide(services(dataDir, { system: folders.store, programs: nobody })))
      assert.deepStrictEqual(folders.snapshot(), before)
      assert.deepStrictEqual(
        spawnSync("openssl", ["verify", "-CAfile", folders.store.bundle, join(dataDir, "ours.pem")]).status === 0,
        false
      )
    })
  )

  it.scopedLive("keeps an authority that is to stay, until it is taken out", () =>
    Effect.gen(function* () {
      const [root, dataDir] = [yield* temporaryFolder, yield* temporaryFolder]
      const folders = makeTrustFolders(root)
      const before = folders.snapshot()
      const pem = makeAuthority(dataDir, "ours")
      const mitm = "gateway-mitm-ca.crt"
      const stores = { system: folders.store, programs: nobody }
      yield* Effect.flatMap(TrustStore.TrustStore, (trust) =>
        trust.install({ ...session(pem), slot: mitm, lifetime: "kept" })
      ).pipe(Effect.provide(services(dataDir, stores)))
      yield* Effect.gen(function* () {
        const trust = yield* TrustStore.TrustStore
        assert.isTrue(yield* trust.isTrusted(mitm, pem))
        assert.deepStrictEqual(yield* trust.remove(mitm, pem), { left: [], problem: null })
        assert.deepStrictEqual(yield* trust.remove(mitm, pem), { left: [], problem: null })
      }).pipe(Effect.provide(services(dataDir, stores)))
      assert.deepStrictEqual(folders.snapshot(), before)
    })
  )

  it.scopedLive(
    "leaves a file in the slot that somebody has replaced, and other certificates that came meanwhile",
    () =>
      Effect.gen(function* () {
        const [root, dataDir] = [yield* temporaryFolder, yield* temporaryFolder]
        const folders = makeTrustFolders(root)
        const [pem, theirs, other] = ["ours", "theirs", "other"].map((name) => makeAuthority(dataDir, name))
        const file = join(folders.store.folder, slot)
        yield* Effect.gen(function* () {
          const trust = yield* TrustStore.TrustStore
          yield* trust.install(session(pem!))
          writeFileSync(file, theirs!)
          writeFileSync(join(folders.store.folder, "other.crt"), other!)
          const removed = yield* trust.remove(slot, pem!)
          assert.notInclude(removed.left, folders.store.bundle)
          assert.isFalse(yield* trust.isTrusted(slot, pem!))
        }).pipe(Effect.provide(services(dataDir, { system: folders.store, programs: nobody })))
        assert.strictEqual(readFileSync(file, "utf8"), theirs)
        assert.include(readFileSync(folders.store.bundle, "utf8"), other!)
      })
  )

  it.scopedLive("leaves nothing where the update fails, and refuses what is no authority", () =>
    Effect.gen(function* () {
      const [root, dataDir] = [yield* temporaryFolder, yield* temporaryFolder]
      const folders = makeTrustFolders(root)
      const before = folders.snapshot()
      const pem = makeAuthority(dataDir, "ours")
      // Fails at its first run only.
      const failing = join(root, "update")
      writeFileSync(
        failing,
        `#!/bin/sh\nif [ ! -e ${root}/failed ]; then touch ${root}/failed; echo no room >&2; exit 1; fi\nexec ${folders.store.update.join(" ")}\n`,
        { mode: 0o755 }
      )
      yield* Effect.gen(function* () {
        const trust = yield* TrustStore.TrustStore
        const failed = yield* Effect.flip(trust.install(session(pem)))
        assert.match(failed.message, /not changed: .*no room/u)
        assert.match((yield* Effect.flip(trust.install(session("no certificate")))).message, /not the certificate/u)
        assert.deepStrictEqual(yield* Effect.flatMap(HostJournal.HostJournal, ({ entries }) => entries), [])
      }).pipe(Effect.provide(services(dataDir, { system: { ...folders.store, update: [failing] }, programs: nobody })))
      assert.deepStrictEqual(folders.snapshot(), before)
    })
  )

  it.scopedLive(
    "puts it into the stores of browsers and Java by their real programs, and takes it out of them",
    () =>
      Effect.gen(function* () {
        if (!hasNss || !hasKeytool) return
        const [root, dataDir] = [yield* temporaryFolder, yield* temporaryFolder]
        const folders = makeTrustFolders(root)
        const pem = makeAuthority(dataDir, "ours")
        makeAuthority(dataDir, "first")
        const nss = join(root, "nss")
        const keystore = join(root, "cacerts")
        mkdirSync(nss)
        const [certutil, keytool] = [which("certutil"), which("keytool")]
        execFileSync(certutil, ["-N", "-d", `sql:${nss}`, "--empty-password"])
        const keep = ["-keystore", keystore, "-storepass", "changeit"]
        execFileSync(
          keytool,
          ["-importcert", "-noprompt", ...keep, "-alias", "first", "-file", join(dataDir, "first.pem")],
          { stdio: "ignore" }
        )
        const list = (): string =>
          execFileSync(certutil, ["-L", "-d", `sql:${nss}`], { encoding: "utf8" }) +
          execFileSync(keytool, ["-list", ...keep], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
        const before = list()
        yield* Effect.gen(function* () {
          const trust = yield* TrustStore.TrustStore
          assert.deepStrictEqual(yield* trust.install(session(pem)), { warnings: [] })
          assert.includeMembers([...(yield* trust.places(slot, pem))], [nss, keystore])
          assert.deepStrictEqual(yield* trust.remove(slot, pem), { left: [], problem: null })
        }).pipe(
          Effect.provide(
            services(dataDir, {
              system: folders.store,
              programs: { nss: { certutil, folders: [nss] }, java: { keytool, keystores: [keystore] } }
            })
          )
        )
        assert.strictEqual(list(), before)
      }),
    60_000
  )
})

describe("taking an authority out on other systems", () => {
  const authority = { slot, pem: "", fileSha256: "00", sha1: "AB".repeat(20) } as const

  it("asks macOS for the fingerprint first", () => {
    const [step] = removalSteps({ kind: "macos", program: "/usr/bin/security" }, [], authority)
    assert.deepInclude(step, {
      argv: ["/usr/bin/security", "delete-certificate", "-Z", authority.sha1, "/Library/Keychains/System.keychain"]
    })
    assert.deepStrictEqual(step?.do === "run" ? step.onlyIf?.[0]?.lines : [], [`SHA-1 hash: ${authority.sha1}`])
  })
})

const isRoot = process.getuid?.() === 0
const canSudo = isRoot && spawnSync("sudo", ["-n", "true"]).status === 0

describe.runIf(canSudo)("a password for sudo", () => {
  it.scopedLive("goes to the input of one sudo, and into no message", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const { runPrivileged } = yield* Effect.promise(
        () => import("../../../../src/observe/capture/host/Privileges.ts")
      )
      const log = join(dataDir, "log")
      const sudo = join(dataDir, "sudo")
      // Stands for sudo, which asks nothing of root: refuses without a password, and says what it was given.
      writeFileSync(
        sudo,
        `#!/bin/sh\necho "$*" >> ${log}\n[ "$1" = -n ] && exit 1\nread -r password\necho "given $password" >&2\nexit 1\n`,
        { mode: 0o755 }
      )
      const getuid = process.getuid
      yield* Effect.gen(function* () {
        const journal = yield* HostJournal.HostJournal
        yield* journal.open({ kind: "trust-store", what: "nothing", steps: [] })
        process.getuid = () => 1000
        const ran = yield* runPrivileged(journal, new Map([["PATH", dataDir]]), {
          argv: ["/bin/true"],
          timeoutMs: 5_000,
          sudoPassword: Redacted.make("s3cret word")
        })
        assert.deepStrictEqual(ran, { ok: false, problem: "sudo ended with 1: given ***", stdout: "" })
        assert.strictEqual(readFileSync(log, "utf8"), "-n -- /bin/true\n-S -k -p  -- /bin/true\n")
        const bad = yield* runPrivileged(journal, new Map([["PATH", dataDir]]), {
          argv: ["/bin/true"],
          timeoutMs: 5_000,
          sudoPassword: Redacted.make("a\nb")
        })
        assert.isFalse(bad.ok)
        const none = yield* runPrivileged(journal, new Map([["PATH", dataDir]]), {
          argv: ["/bin/true"],
          timeoutMs: 5_000,
          sudoPassword: null
        })
        assert.isFalse(none.ok)
      }).pipe(
        Effect.ensuring(Effect.sync(() => Object.assign(process, { getuid }))),
        Effect.provide(
          HostJournal.layer.pipe(Layer.provide(AppConfig.layerOf({ dataDir, environment: new Map([["PATH", path]]) })))
        )
      )
    })
  )
})
