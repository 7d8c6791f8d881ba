/** A process that changes the machine over and over, or once, until it is killed: what `kills.slow.test.ts` bundles and starts. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HostJournal from "../../../src/observe/capture/host/HostJournal.ts"
import * as HostsFile from "../../../src/observe/capture/host/HostsFile.ts"
import * as SystemProxy from "../../../src/observe/capture/host/SystemProxy.ts"
import * as TrustStore from "../../../src/observe/capture/host/TrustStore.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import type { AnchorStore } from "../../../src/observe/capture/host/trust/Stores.ts"

export interface Order {
  readonly kind: "hosts" | "system-proxy" | "trust-store"
  /** Makes the change, says `held` and waits; else makes it and takes it back for ever. */
  readonly holds: boolean
  readonly dataDir: string
  readonly environment: Readonly<Record<string, string>>
  readonly trust: { readonly store: AnchorStore; readonly pem: string } | null
}

const order: Order = JSON.parse(process.argv[2] ?? "")
const journal = HostJournal.layer
const config = AppConfig.layerOf({ dataDir: order.dataDir, environment: new Map(Object.entries(order.environment)) })

const hosts = Effect.map(HostsFile.HostsFile, ({ set }) => ({
  make: (round: number) => set([`a${round}.example`, "api.example.com"]),
  takeBack: set([])
}))

const systemProxy = Effect.map(SystemProxy.SystemProxy, ({ apply, revert }) => ({
  make: () => apply({ port: 8899, guardMs: 600_000 }),
  takeBack: revert
}))

const slot = "gateway-tproxy-ca.crt"
const trustStore = Effect.map(TrustStore.TrustStore, ({ install, remove }) => ({
  make: () => install({ slot, pem: order.trust?.pem ?? "", sudoPassword: null, lifetime: "session" }),
  takeBack: remove(slot, order.trust?.pem ?? "")
}))

const change = Effect.gen(function* () {
  switch (order.kind) {
    case "hosts":
      return yield* hosts
    case "system-proxy":
      return yield* systemProxy
    case "trust-store":
      return yield* trustStore
  }
})

const services = Layer.mergeAll(
  HostsFile.layer,
  Layer.scoped(SystemProxy.SystemProxy, SystemProxy.makeFor("linux")),
  Layer.scoped(
    TrustStore.TrustStore,
    TrustStore.makeFor({ system: order.trust?.store ?? null, programs: { nss: null, java: null } })
  )
).pipe(Layer.provideMerge(journal), Layer.provideMerge(config))

const main = Effect.gen(function* () {
  const { make, takeBack } = yield* change
  process.stdout.write("begun\n")
  for (let round = 0; ; round += 1) {
    yield* make(round)
    if (order.holds) {
      process.stdout.write("held\n")
      return yield* Effect.never
    }
    yield* takeBack
  }
})

// As a gateway's listener does.
setInterval(() => {}, 60_000)
Effect.runFork(main.pipe(Effect.provide(services), Effect.scoped))
