import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as HostJournal from "../../../../src/observe/capture/host/HostJournal.ts"
import { findProgram } from "../../../../src/observe/capture/host/HostPrograms.ts"
import * as SystemProxy from "../../../../src/observe/capture/host/SystemProxy.ts"
import { runProgram } from "../../../../src/observe/capture/host/undo/run.mjs"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { eventually } from "../../../support/eventually.ts"
import { fakeGnome, fakeKde, fakeMacos, type FakeState, fakeWindows } from "../../../support/FakeDesktop.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

type Proxy = typeof SystemProxy.SystemProxy.Service

interface Desk {
  readonly proxy: Proxy
  readonly state: FakeState
  readonly folder: string
}

const environmentOf = (folder: string, more: ReadonlyArray<readonly [string, string]> = []) =>
  new Map([
    ["PATH", `${folder}:${process.env["PATH"] ?? ""}`],
    ["HOME", folder],
    ["DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/of/a/fake"],
    ...more
  ])

const services = (
  dataDir: string,
  environment: ReadonlyMap<string, string>,
  platform: NodeJS.Platform
): Layer.Layer<SystemProxy.SystemProxy | HostJournal.HostJournal> =>
  Layer.scoped(SystemProxy.SystemProxy, SystemProxy.makeFor(platform)).pipe(
    Layer.provideMerge(HostJournal.layer),
    Layer.provide(AppConfig.layerOf({ dataDir, environment }))
  )

const options = { port: 8899, guardMs: 60_000 }

/** Runs a test on a desktop; its state must be as it was when the scope is over, or as `edit` says. */
const onDesktop = <A, E>(
  [platform, fake]: readonly [NodeJS.Platform, (folder: string) => FakeState],
  test: (desk: Desk) => Effect.Effect<A, E, HostJournal.HostJournal | Scope.Scope>,
  expected: (before: string) => string = (before) => before
) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const folder = yield* temporaryFolder
    const state = fake(folder)
    const before = state.read()
    yield* Effect.flatMap(SystemProxy.SystemProxy, (proxy) => test({ proxy, state, folder })).pipe(
      Effect.scoped,
      Effect.provide(services(dataDir, environmentOf(folder, [["XDG_CURRENT_DESKTOP", "KDE"]]), platform))
    )
    assert.strictEqual(state.read(), expected(before))
  })

const gnome = ["linux", fakeGnome] as const
const desktops: ReadonlyArray<
  readonly [
    name: string,
    desktop: readonly [NodeJS.Platform, (folder: string) => FakeState],
    set: ReadonlyArray<string>
  ]
> = [
  [
    "gnome",
    gnome,
    [
      "proxy mode 'manual'",
      "http host '127.0.0.1'",
      "https port 8899",
      "ignore-hosts ['localhost', 'intranet.example', '127.0.0.0/8', '::1']",
      "autoconfig-url 'http://pac.example/proxy.pac'"
    ]
  ],
  [
    "macos",
    ["darwin", fakeMacos],
    [
      "Wi-Fi|web|Yes|127.0.0.1|8899",
      "LAN|secureweb|Yes|127.0.0.1|8899",
      "LAN|automatic|No|http://pac.example/proxy.pac|",
      "LAN|bypass||*.local,169.254/16,localhost,127.0.0.1,::1|"
    ]
  ],
  ["windows", ["win32", fakeWindows], ["ProxyEnable|REG_DWORD|1", "ProxyServer|REG_SZ|127.0.0.1:8899", "ProxyOverride"]]
]

describe("the system's proxy", () => {
  it.scopedLive.each(desktops)("is set and given back as it was: %s", ([name, desktop, set]) =>
    onDesktop(desktop, ({ proxy, state }) =>
      Effect.gen(function* () {
        const before = state.read()
        const applied = yield* proxy.apply(options)
        assert.strictEqual(applied.platform, name)
        assert.strictEqual(applied.port, 8899)
        assert.isTrue(applied.applied && applied.supported)
        for (const text of set) assert.include(state.read(), text)
        const report = yield* proxy.revert
        assert.deepStrictEqual(report?.failed, [])
        assert.lengthOf(report?.restored ?? [], 1)
        assert.strictEqual(state.read(), before)
        assert.isNull(yield* proxy.revert)
        // The end of the scope gives it back as well.
        yield* proxy.apply(options)
      })
    )
  )

  it.scopedLive("is set for KDE where that is the session, and a key that was absent is absent again", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const dataDir = yield* temporaryFolder
      const state = fakeKde(folder)
      const before = state.read()
      const others = fakeGnome(folder)
      const othersBefore = others.read()
      yield* Effect.gen(function* () {
        const proxy = yield* SystemProxy.SystemProxy
        assert.strictEqual((yield* proxy.apply(options)).platform, "kde")
        assert.include(state.read(), "ProxyType=1\n")
        assert.include(state.read(), "httpsProxy=http://127.0.0.1 8899\n")
        assert.include(others.read(), "mode 'manual'")
      }).pipe(Effect.provide(services(dataDir, environmentOf(folder, [["XDG_CURRENT_DESKTOP", "KDE"]]), "linux")))
      assert.strictEqual(state.read(), before)
      assert.strictEqual(others.read(), othersBefore)
    })
  )

  it.scopedLive("keeps a value that somebody changed meanwhile, and says so", () =>
    onDesktop(
      gnome,
      ({ proxy, state }) =>
        Effect.gen(function* () {
          yield* proxy.apply(options)
          state.edit("https port 8899", "https port 9999")
          const report = yield* proxy.revert
          assert.lengthOf(report?.kept ?? [], 1)
        }),
      (before) => before.replace("https port 0", "https port 9999")
    )
  )

  it.scopedLive("keeps another proxy that somebody set meanwhile, and that it is used", () =>
    onDesktop(
      gnome,
      ({ proxy, state }) =>
        Effect.gen(function* () {
          yield* proxy.apply(options)
          state.edit("http host '127.0.0.1'", "http host 'new.example'")
        }),
      (before) =>
        before.replace("http host 'old.example'", "http host 'new.example'").replace("mode 'none'", "mode 'manual'")
    )
  )

  it.scopedLive("keeps a proxy that somebody turned off meanwhile turned off", () =>
    onDesktop(
      ["darwin", fakeMacos],
      ({ proxy, state }) =>
        Effect.gen(function* () {
          yield* proxy.apply(options)
          state.edit("LAN|secureweb|Yes|127.0.0.1|8899", "LAN|secureweb|No|other.example|1")
        }),
      (before) => before.replace("LAN|secureweb|Yes|corp.example|8443", "LAN|secureweb|No|other.example|1")
    )
  )

  it.scopedLive("never takes its own setting for the one before", () =>
    onDesktop(
      gnome,
      ({ proxy, state }) =>
        Effect.gen(function* () {
          yield* proxy.apply(options)
          const ours = state.read()
          yield* proxy.revert
          // Left by a gateway whose journal is lost.
          state.write(ours)
          yield* proxy.apply(options)
          yield* proxy.revert
          assert.include(state.read(), "proxy mode 'none'")
          assert.notInclude(state.read(), "127.0.0.1'")
        }),
      (before) =>
        before
          .replace("http host 'old.example'", "http host ''")
          .replace("http port 3128", "http port 8080")
          .replace("'intranet.example']", "'intranet.example', '127.0.0.0/8', '::1']")
    )
  )

  it.scopedLive("is given back by itself at the deadline, which a second call moves", () =>
    onDesktop(gnome, ({ proxy, state }) =>
      Effect.gen(function* () {
        const before = state.read()
        const first = yield* proxy.apply(options)
        const journal = yield* HostJournal.HostJournal
        const stored = yield* journal.entries
        assert.strictEqual(stored[0]?.facts["guardUntilMs"], first.guardUntilMs)
        const second = yield* proxy.apply({ ...options, guardMs: 1 })
        assert.isBelow(second.guardUntilMs ?? Infinity, first.guardUntilMs ?? 0)
        yield* Effect.promise(() => eventually("the deadline", state.read, (text) => text === before))
        yield* Effect.promise(() =>
          eventually(
            "the state",
            () => Effect.runPromise(proxy.state),
            ({ applied }) => !applied
          )
        )
        assert.deepStrictEqual(yield* journal.entries, [])
      })
    )
  )

  it.scopedLive("fails with lines for a terminal where the desktop does not keep the value", () =>
    onDesktop(gnome, ({ folder, proxy }) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, "gsettings.deaf"), "")
        const failed = yield* Effect.flip(proxy.apply(options))
        assert.strictEqual(failed._tag, "SystemProxyUnsupported")
        const { applied, supported } = yield* proxy.state
        assert.deepStrictEqual({ applied, supported }, { applied: false, supported: false })
        assert.deepStrictEqual(yield* Effect.flatMap(HostJournal.HostJournal, ({ entries }) => entries), [])
      })
    )
  )

  it.scopedLive("says before it is asked that a desktop without a session keeps nothing", () =>
    onDesktop(gnome, ({ folder, proxy }) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, "gsettings.alone"), "")
        assert.isFalse((yield* proxy.state).supported)
        const failed = yield* Effect.flip(proxy.apply(options))
        assert.strictEqual(failed._tag, "SystemProxyUnsupported")
        assert.include(failed._tag === "SystemProxyUnsupported" ? failed.reason : "", "no session")
      })
    )
  )

  it.scopedLive("says before it is asked what a desktop can be set to", () =>
    onDesktop(gnome, ({ proxy }) =>
      Effect.gen(function* () {
        assert.isTrue((yield* proxy.state).supported)
        assert.isTrue((yield* proxy.apply(options)).applied)
      })
    )
  )

  it.scopedLive("fails with lines for a terminal where no way is known", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const failed = yield* Effect.flatMap(SystemProxy.SystemProxy, (proxy) => Effect.flip(proxy.apply(options))).pipe(
        Effect.provide(services(dataDir, environmentOf(dataDir), "darwin"))
      )
      assert.strictEqual(failed._tag, "SystemProxyUnsupported")
      if (failed._tag !== "SystemProxyUnsupported") return
      assert.lengthOf(failed.lines, 3)
      assert.match(failed.lines[1] ?? "", /HTTPS_PROXY=http:\/\/127\.0\.0\.1:8899/u)
    })
  )

  const gsettings = findProgram(new Map([["PATH", process.env["PATH"] ?? ""]]), "gsettings")

  it.runIf(gsettings !== null)("speaks to the real gsettings", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const config = join(dataDir, "config")
      mkdirSync(config)
      const environment = new Map([
        ["PATH", process.env["PATH"] ?? ""],
        ["HOME", dataDir],
        ["XDG_CONFIG_HOME", config],
        ["GSETTINGS_BACKEND", "keyfile"]
      ])
      const schema = "org.gnome.system.proxy"
      const ask = (...words: ReadonlyArray<string>) =>
        Effect.promise(() => runProgram([gsettings ?? "", ...words], { environment: Object.fromEntries(environment) }))
      if (!(yield* ask("get", schema, "mode")).ok) return
      yield* ask("set", schema, "mode", "'auto'")
      yield* ask("set", `${schema}.http`, "host", "'old.example'")
      const values = Effect.forEach(
        [
          [schema, "mode"],
          [schema, "ignore-hosts"],
          [`${schema}.http`, "host"],
          [`${schema}.http`, "port"],
          [`${schema}.https`, "host"]
        ],
        ([group = "", key = ""]) => Effect.map(ask("get", group, key), ({ stdout }) => stdout)
      )
      const before = yield* values
      yield* Effect.gen(function* () {
        const proxy = yield* SystemProxy.SystemProxy
        assert.isTrue((yield* proxy.apply(options)).applied)
        assert.include(readFileSync(join(config, "glib-2.0/settings/keyfile"), "utf8"), "mode='manual'")
      }).pipe(Effect.provide(services(dataDir, environment, "linux")))
      assert.deepStrictEqual(yield* values, before)
    }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.runIf(gsettings !== null)("tells the truth of the real gsettings without a session", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const environment = new Map([
        ["PATH", process.env["PATH"] ?? ""],
        ["HOME", dataDir],
        ["XDG_RUNTIME_DIR", dataDir]
      ])
      yield* Effect.gen(function* () {
        const proxy = yield* SystemProxy.SystemProxy
        const { supported } = yield* proxy.state
        const applied = yield* Effect.isSuccess(proxy.apply(options))
        assert.strictEqual(supported, applied)
      }).pipe(Effect.provide(services(dataDir, environment, "linux")))
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
