/** The proxies of Debian, as their packages come, on the proxy's host. */
import type { ChildProcess } from "node:child_process"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ProxyType } from "../../src/subjects/proxies/entity.ts"
import type { Certificates } from "./Certificates.ts"
import { addresses, login, type Network, plainLogin } from "./Network.ts"

export interface Endpoint {
  readonly name: string
  readonly program: "danted" | "microsocks" | "tinyproxy" | "squid"
  readonly type: ProxyType
  readonly port: number
  readonly username: string | null
  readonly password: string | null
}

const open = { username: null, password: null }

export const endpoints: ReadonlyArray<Endpoint> = [
  { name: "danted", program: "danted", type: "socks5", port: 1080, ...open },
  { name: "danted with password", program: "danted", type: "socks5", port: 1081, ...login },
  { name: "microsocks", program: "microsocks", type: "socks5", port: 1090, ...open },
  { name: "microsocks with password", program: "microsocks", type: "socks5", port: 1091, ...login },
  { name: "tinyproxy", program: "tinyproxy", type: "http", port: 8880, ...open },
  { name: "tinyproxy with password", program: "tinyproxy", type: "http", port: 8881, ...plainLogin },
  { name: "squid", program: "squid", type: "http", port: 3128, ...open },
  { name: "squid with password", program: "squid", type: "http", port: 3129, ...login },
  { name: "squid over TLS", program: "squid", type: "https", port: 3130, ...open },
  { name: "squid over TLS with password", program: "squid", type: "https", port: 3131, ...login }
]

const dante = (port: number, method: "none" | "username"): string => `logoutput: stderr
internal: ${addresses.proxy.v4} port = ${port}
internal: ${addresses.proxy.v6} port = ${port}
external: ${addresses.exit.v4}
external: ${addresses.exit.v6}
external.rotation: route
clientmethod: none
socksmethod: ${method}
user.privileged: root
user.unprivileged: nobody
client pass { from: 0/0 to: 0/0 }
socks pass { from: 0/0 to: 0/0 command: connect }
`

const tinyproxy = (port: number, account: string): string => `Port ${port}
Timeout 60
MaxClients 600
LogLevel Error
DisableViaHeader Yes
${account}
`

const squid = (folder: string, { proxy }: Certificates, firstPort: number): string => `
http_port ${firstPort}
http_port ${firstPort + 1}
https_port ${firstPort + 2} tls-cert=${proxy.cert} tls-key=${proxy.key}
https_port ${firstPort + 3} tls-cert=${proxy.cert} tls-key=${proxy.key}
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${folder}/users
auth_param basic children 2
acl locked localport ${firstPort + 1} ${firstPort + 3}
acl known proxy_auth REQUIRED
http_access deny locked !known
http_access allow all
cache deny all
cache_mem 4 MB
pid_filename ${folder}/squid.pid
access_log none
cache_log ${folder}/cache.log
cache_store_log none
coredump_dir ${folder}
pinger_enable off
hosts_file /etc/hosts
dns_nameservers ${addresses.proxy.v4}
max_filedescriptors 4096
shutdown_lifetime 1 second
`

/** Ports of a program are moved by `offset`, so that a second one can run beside the first. */
export const startProxy = async (
  network: Network,
  certificates: Certificates,
  program: Endpoint["program"],
  offset = 0
): Promise<ReadonlyArray<ChildProcess>> => {
  const folder = join(network.folder, `${program}-${offset}`)
  mkdirSync(folder, { recursive: true })
  const started: Array<ChildProcess> = []
  const start = (...command: ReadonlyArray<string>): void => void started.push(network.start("proxy", command))
  const file = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  switch (program) {
    case "danted":
      start("danted", "-f", file("open.conf", dante(1080 + offset, "none")))
      start("danted", "-f", file("locked.conf", dante(1081 + offset, "username")))
      break
    case "microsocks": {
      const at = (port: number) => ["microsocks", "-i", "::", "-p", String(port + offset)]
      start(...at(1090))
      start(...at(1091), "-u", login.username, "-P", login.password)
      break
    }
    case "tinyproxy":
      start("tinyproxy", "-d", "-c", file("open.conf", tinyproxy(8880 + offset, "")))
      start(
        "tinyproxy",
        "-d",
        "-c",
        file("locked.conf", tinyproxy(8881 + offset, `BasicAuth ${plainLogin.username} ${plainLogin.password}`))
      )
      break
    case "squid": {
      const hash = execFileSync("openssl", ["passwd", "-apr1", login.password], { encoding: "utf8" }).trim()
      file("users", `${login.username}:${hash}\n`)
      // It gives up root for a user of its own.
      for (const path of [network.folder, folder]) chmodSync(path, 0o777)
      for (const path of Object.values(certificates.proxy)) chmodSync(path, 0o644)
      start("squid", "-N", "-f", file("squid.conf", squid(folder, certificates, 3128 + offset)))
    }
  }
  await network.listening(
    "proxy",
    endpoints.filter((endpoint) => endpoint.program === program).map(({ port }) => port + offset)
  )
  return started
}

export const startProxies = async (network: Network, certificates: Certificates): Promise<void> => {
  for (const program of ["danted", "microsocks", "tinyproxy", "squid"] as const) {
    await startProxy(network, certificates, program)
  }
}
