/** `rediss://`: Valkey over TLS, with a certificate that is trusted and with one that is not; and where the way over it is seen. */
import { assert, describe, it } from "vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { makeCertificate } from "../support/tunnels/Certificate.ts"
import { isValkeyThere, noValkey, valkeyServer } from "../support/valkey/Server.ts"
import { ask, authorization, manage, provider, until } from "./processes.ts"
import { emptyDatabase, nodeVariables } from "./postgres.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, run, serve } = program()
const upstream = provider()
const there = isPostgresThere() && isValkeyThere
const missing = isPostgresThere() ? (isValkeyThere ? "" : noValkey) : noPostgres

interface Cluster {
  readonly valkey: {
    readonly address: string
    readonly problem: string | null
    readonly told: number
    readonly heard: number
    readonly lagMs: number | null
    readonly overDatabase: number
    readonly dropped: number
  } | null
  readonly ownOfEach: ReadonlyArray<string>
}

const clusterOf = async (server: Serving) => (await manage(server, "GET", "/api/cluster")) as Cluster
const metricsOf = async ({ url }: Serving): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers: { authorization } })).text()

describe.skipIf(!there)(`Valkey over TLS${missing}`, () => {
  it("is used where its certificate is trusted, and told where it is not", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gateway-valkey-tls-"))
    const { certPem, keyPem } = makeCertificate()
    const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") }
    writeFileSync(files.cert, certPem)
    writeFileSync(files.key, keyPem)
    const valkey = await valkeyServer("a-password-of-valkey", files)
    assert.match(valkey.url, /^rediss:/)
    const database = await emptyDatabase()
    // The name of the certificate.
    const shared = { ...nodeVariables(database), GATEWAY_VALKEY_URL: valkey.url.replace("127.0.0.1", "localhost") }
    const trusting = { ...shared, NODE_EXTRA_CA_CERTS: files.cert }
    const own = dataDir()
    const one = await serve({ ...trusting, DATA_DIR: own })
    const two = await serve({ ...trusting, DATA_DIR: dataDir() })
    await manage(one, "POST", "/api/providers", upstream.connection())
    await until(async () => (await ask(two)) === 200, "it serves")
    for (const server of [one, two]) {
      await until(async () => (await clusterOf(server)).valkey?.problem === null, "Valkey is reached")
    }
    let asked = 0
    await until(async () => {
      // The answer under such a key is told to the others.
      asked += 1
      await ask(one, null, { "idempotency-key": `of-this-test-${asked}` })
      return ((await clusterOf(two)).valkey?.heard ?? 0) > 0
    }, "what one has told the other has heard")
    const seen = (await clusterOf(two)).valkey
    assert.isNumber(seen?.lagMs)
    assert.strictEqual(seen?.dropped, 0)
    assert.isAbove((await clusterOf(one)).valkey?.told ?? 0, 0)
    const metrics = await metricsOf(two)
    assert.include(metrics, "gateway_valkey_reached 1")
    assert.match(metrics, /gateway_valkey_messages_total\{way="heard"\} [1-9]/)
    assert.match(metrics, /gateway_valkey_lag_seconds [\d.e-]+/)
    assert.include(metrics, "gateway_untold_health_dropped_total 0")

    const status = await run(["cluster", "status"], { DATA_DIR: own })
    assert.match(status.stderr, /Valkey at localhost:\d+ is reached: \d+ messages told, \d+ heard/)
    assert.match(status.stderr, /Each gateway has its own: .*maxConcurrent.*round robin.*cache/)
    const doctor = await run(["doctor", "--json", "--no-liveness"], { ...trusting, DATA_DIR: own })
    assert.match(doctor.stdout, /2 gateways run on the database; each has its own: .*maxConcurrent/)
    assert.match(doctor.stdout, /(?:Redis|Valkey) [\d.]+ at localhost:\d+, a round trip takes/)

    // One that does not know who has signed the certificate says so, and tells the others over the database.
    const distrustful = await serve({ ...shared, DATA_DIR: dataDir() })
    await until(
      async () => /certificate/.test((await clusterOf(distrustful)).valkey?.problem ?? ""),
      "it does not trust the certificate"
    )
    assert.strictEqual(await ask(distrustful), 200)
    assert.include(await metricsOf(distrustful), "gateway_valkey_reached 0")
    rmSync(folder, { recursive: true, force: true })
  }, 180_000)
})
