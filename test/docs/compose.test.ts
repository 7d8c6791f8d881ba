/** The files for containers: settings that the program knows, published on this machine only, and each gateway with a folder of its own. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { knownNames } from "../../src/cli/flags/variables.ts"

interface Service {
  readonly build?: string
  readonly image?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: ReadonlyArray<string>
  readonly ports?: ReadonlyArray<string>
  readonly read_only?: boolean
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly configs?: Readonly<Record<string, { readonly content: string }>>
}

const composeOf = (name: string): Compose =>
  parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"), { merge: true }) as Compose

describe("files for containers", () => {
  for (const name of ["compose.yaml", "compose.cluster.yaml"]) {
    it.effect(`${name} has settings that are known, and publishes on this machine only`, () =>
      Effect.gen(function* () {
        const known = yield* knownNames
        const { services, volumes } = composeOf(name)
        const gateways = Object.values(services).filter(({ build }) => build !== undefined)
        assert.isNotEmpty(gateways)
        for (const { environment = {}, read_only } of gateways) {
          for (const variable of Object.keys(environment)) assert.isTrue(known.has(variable), variable)
          assert.strictEqual(environment["REQUIRE_API_KEY"], "true")
          assert.isTrue(read_only)
        }
        const folders = gateways.flatMap((gateway) => gateway.volumes ?? [])
        assert.lengthOf(new Set(folders), gateways.length)
        const named = Object.values(services).flatMap((service) => service.volumes ?? [])
        for (const volume of named) assert.property(volumes, volume.split(":")[0] ?? "")
        const ports = Object.values(services).flatMap((service) => service.ports ?? [])
        assert.isNotEmpty(ports)
        for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
      })
    )
  }

  it("compose.cluster.yaml sends requests to each of its gateways", () => {
    const { configs, services } = composeOf("compose.cluster.yaml")
    for (const [name, { build }] of Object.entries(services)) {
      if (build !== undefined) assert.include(configs?.["caddy"]?.content ?? "", `${name}:20128`)
    }
  })
})
