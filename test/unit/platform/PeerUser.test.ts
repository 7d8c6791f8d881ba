/** The user at the other end of a connection within this machine. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { endsOf, markTunnel } from "../../../src/subjects/auth/PeerAddress.ts"
import { isOwnUser, userIn, userOfPeer } from "../../../src/platform/PeerUser.ts"

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
const row = (local: string, remote: string, user: number) =>
  `   1: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000 ${user}        0 7058545 1 00 100 0 0 10 0\n`

it("finds the row of the peer, whatever rows of the same ports there are", () => {
  const own = "127.0.0.1 20128"
  const table =
    head +
    // The server's own end of the same connection, and one of another address.
    row("0100007F:4EA0", "0100007F:C001", 0) +
    row("0200007F:C001", "0100007F:4EA0", 7) +
    row("0100007F:C001", "0100007F:4EA0", 1000) +
    row("0100007F:C0", "0100007F:4EA0", 8)
  assert.strictEqual(userIn(table, "127.0.0.1 49153", own), 1000)
  assert.strictEqual(userIn(table, "127.0.0.2 49153", own), 7)
  assert.isNull(userIn(table, "127.0.0.1 49154", own))
  assert.isNull(userIn(head, "127.0.0.1 49153", own))
  const six =
    head +
    row("0000000000000000FFFF00000100007F:C001", "0000000000000000FFFF00000100007F:4EA0", 12) +
    row("00000000000000000000000001000000:C001", "00000000000000000000000001000000:4EA0", 13)
  assert.strictEqual(userIn(six, "127.0.0.1 49153", own), 12)
  assert.strictEqual(userIn(six, "::1 49153", "::1 20128"), 13)
})

it.effect.runIf(process.platform === "linux")("finds this very process at the other end", () =>
  Effect.gen(function* () {
    for (const host of ["127.0.0.1", "::1"]) {
      const server = createServer().listen(0, host)
      yield* Effect.promise(() => once(server, "listening"))
      const client = connect((server.address() as AddressInfo).port, host)
      const [accepted] = (yield* Effect.promise(() => once(server, "connection"))) as [Socket]
      const ends = endsOf(accepted)
      assert.isNotNull(ends)
      if (ends !== null) assert.strictEqual(yield* userOfPeer(ends), process.getuid?.())
      markTunnel(accepted)
      assert.isNull(endsOf(accepted))
      client.destroy()
      accepted.destroy()
      server.close()
    }
    const none = { own: { address: "127.0.0.1", port: 1 }, peer: { address: "127.0.0.1", port: 2 } }
    assert.isNull(yield* userOfPeer(none))
  })
)

it("lets root and the same user do it, and whoever is not known", () => {
  const own = process.getuid?.() ?? 0
  assert.deepStrictEqual([own, 0, null, 4_711].map(isOwnUser), [true, true, true, false])
})
