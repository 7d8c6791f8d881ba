/** The chart of `docs/helm/gateway`: its values by its schema, and what its templates make of them. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { parse, parseAllDocuments } from "yaml"

const project = new URL("../..", import.meta.url).pathname
const chart = join(project, "docs/helm/gateway")
const folder = mkdtempSync(join(tmpdir(), "gateway-chart-"))

/** Debian's packages of Go's libraries are folders of sources. */
const environment = {
  ...process.env,
  GOPATH: "/usr/share/gocode",
  GO111MODULE: "off",
  GOCACHE: join(folder, "go"),
  GOFLAGS: ""
}
const program = join(folder, "render")
const compiled = spawnSync("go", ["build", "-o", program, join(project, "test/support/helm/render.go")], {
  encoding: "utf8",
  env: environment
})
const hasGo = compiled.status === 0

interface Container {
  readonly image: string
  readonly env: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly envFrom: ReadonlyArray<{ readonly secretRef: { readonly name: string } }>
  readonly ports: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } }
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: ReadonlyArray<string> } } }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly replicas?: number
    readonly serviceName?: string
    readonly selector?: Readonly<Record<string, string>> & { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: { readonly containers: ReadonlyArray<Container>; readonly terminationGracePeriodSeconds: number }
    }
    readonly rules?: ReadonlyArray<{ readonly host: string }>
  }
}

interface Rendered {
  readonly error: string
  readonly manifests: ReadonlyArray<Manifest>
}

const render = (values: unknown): Rendered => {
  const file = join(folder, "values.json")
  writeFileSync(file, JSON.stringify(values))
  const { status, stderr, stdout } = spawnSync(program, [chart, file], { encoding: "utf8" })
  if (status !== 0) return { error: stderr, manifests: [] }
  const texts: Readonly<Record<string, string>> = JSON.parse(stdout)
  const manifests = Object.entries(texts)
    .filter(([name]) => name.endsWith(".yaml"))
    .flatMap(([name, text]) =>
      parseAllDocuments(text).map((document) => {
        assert.deepStrictEqual(document.errors, [], `${name}:\n${text}`)
        return document.toJSON() as Manifest | null
      })
    )
    .filter((manifest) => manifest !== null)
  return { error: "", manifests }
}

const secret = {
  adminKey: "first-admin-key-0123456789",
  encryptionKey: Buffer.alloc(32, 7).toString("base64"),
  databaseUrl: "postgres://gateway:p%23w:1@postgres:5432/gateway",
  valkeyUrl: "redis://gateway:p%23w:1@valkey:6379/0"
}
const three = { replicas: 3, database: { enabled: true }, secret }

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("the chart", () => {
  it("has values that its schema takes, and refuses others", () => {
    const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8"))
    const check = new Ajv({ allErrors: true, strict: false }).compile(schema)
    const values = parse(readFileSync(join(chart, "values.yaml"), "utf8"))
    assert.isTrue(check(values), JSON.stringify(check.errors))
    assert.isTrue(check({ ...values, ...three }), JSON.stringify(check.errors))
    for (const wrong of [
      { replicas: 0 },
      { replica: 2 },
      { secret: { adminKey: "short" } },
      { secret: { databaseUrl: "mysql://a" } },
      { secret: { valkeyUrl: "valkey.example" } },
      { image: { repository: "gateway", digest: "latest" } },
      { env: { PORT: 1 } },
      { data: { size: "5" } }
    ]) {
      assert.isFalse(check(wrong), JSON.stringify(wrong))
    }
    const { appVersion, version } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8"))
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
    assert.deepStrictEqual([version, appVersion], [manifest.version, manifest.version])
    const known = Object.keys(schema.properties).filter((name) => !["global", "nameOverride"].includes(name))
    assert.deepStrictEqual(Object.keys(values).toSorted(), known.toSorted())
  })
})

describe.skipIf(!hasGo)(
  `the chart's templates${hasGo ? "" : " (skipped: needs golang-go, golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev)"}`,
  () => {
    it("make one gateway on SQLite of an admin key alone", () => {
      const { error, manifests } = render({ secret: { adminKey: secret.adminKey } })
      assert.strictEqual(error, "")
      const kinds = manifests.map(({ kind }) => kind).toSorted()
      assert.deepStrictEqual(kinds, ["Secret", "Service", "Service", "ServiceAccount", "StatefulSet"])
      const stored = manifests.find(({ kind }) => kind === "Secret")?.stringData
      assert.deepStrictEqual(stored, { GATEWAY_ADMIN_KEY: secret.adminKey })
    })

    it("make several on one database, which find their services, secret and budget", () => {
      const { error, manifests } = render({
        ...three,
        env: { GATEWAY_LOG_LEVEL: "debug" },
        ingress: { enabled: true, host: "ai.example.com", tlsSecret: "ai-tls", className: "nginx" },
        networkPolicy: { enabled: true },
        podLabels: { team: "ai" },
        image: { repository: "registry.example/gateway", digest: `sha256:${"a".repeat(64)}` }
      })
      assert.strictEqual(error, "")
      const of = (kind: string): ReadonlyArray<Manifest> => manifests.filter((manifest) => manifest.kind === kind)
      const [set] = of("StatefulSet")
      const pods = set?.spec?.template
      const [container] = pods?.spec.containers ?? []
      assert.strictEqual(set?.spec?.replicas, 3)
      assert.include(
        of("Service").map(({ metadata }) => metadata.name),
        set?.spec?.serviceName ?? ""
      )
      const selectors = [
        set?.spec?.selector?.matchLabels,
        ...of("Service").map(({ spec }) => spec?.selector),
        of("PodDisruptionBudget")[0]?.spec?.selector?.matchLabels
      ]
      for (const selector of selectors) {
        assert.strictEqual(Object.keys(selector ?? {}).length, 2)
        assert.deepStrictEqual({ ...pods?.metadata.labels, ...selector }, { ...pods?.metadata.labels })
      }
      assert.strictEqual(container?.envFrom[0]?.secretRef.name, of("Secret")[0]?.metadata.name)
      assert.deepStrictEqual(of("Secret")[0]?.stringData, {
        GATEWAY_ADMIN_KEY: secret.adminKey,
        GATEWAY_ENCRYPTION_KEY: secret.encryptionKey,
        GATEWAY_DATABASE_URL: secret.databaseUrl,
        GATEWAY_VALKEY_URL: secret.valkeyUrl
      })
      assert.strictEqual(container?.image, `registry.example/gateway@sha256:${"a".repeat(64)}`)
      const variables = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
      assert.include(variables, { GATEWAY_LOG_LEVEL: "debug", REQUIRE_API_KEY: "true" })
      assert.isTrue(container?.securityContext.readOnlyRootFilesystem)
      assert.strictEqual(container?.readinessProbe.httpGet.port, container?.ports[0]?.name)
      assert.deepStrictEqual(container?.lifecycle.preStop.exec.command, ["sleep", "8"])
      assert.strictEqual(pods?.spec.terminationGracePeriodSeconds, 8 + 60 + 20)
      assert.strictEqual(of("Ingress")[0]?.spec?.rules?.[0]?.host, "ai.example.com")
    })

    it("take a secret that exists, and make none", () => {
      const { manifests } = render({ replicas: 2, database: { enabled: true }, secret: { existing: "mine" } })
      const set = manifests.find(({ kind }) => kind === "StatefulSet")
      assert.strictEqual(set?.spec?.template?.spec.containers[0]?.envFrom[0]?.secretRef.name, "mine")
      assert.notInclude(
        manifests.map(({ kind }) => kind),
        "Secret"
      )
    })

    it.each([
      [{ replicas: 2, secret }, "Several gateways need one database"],
      [{}, "Set secret.adminKey"],
      [{ ...three, secret: { ...secret, encryptionKey: "" } }, "Set secret.encryptionKey"],
      [{ ...three, secret: { ...secret, databaseUrl: "" } }, "Set secret.databaseUrl"]
    ] as const)("refuse what cannot work with a sentence: %j", (values, sentence) => {
      assert.include(render(values).error, sentence)
    })
  }
)
