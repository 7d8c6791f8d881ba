/** The text of the systemd unit that keeps the gateway running for one user. Pure. https://www.freedesktop.org/software/systemd/man/systemd.service.html */

export interface UnitFacts {
  /** Absolute path of the Node that runs the gateway, and flags for it. */
  readonly node: string
  readonly nodeFlags: ReadonlyArray<string>
  /** Absolute path of the program. */
  readonly program: string
  /** Absolute. */
  readonly dataDir: string
  /** Flags of `serve`. */
  readonly flags: ReadonlyArray<string>
  readonly drainMs: number
}

/** The first line, by which a unit of ours is known. */
export const unitMark = "# Written by 'gateway service install'."

/** Time in s after the drain to end what still runs, close connections and flush, which a stop does within 15 s or gives up. */
const goodbyeSeconds = 20

/** Quotes a text; `%` begins a specifier of systemd. Control characters are refused before. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`

/** An argument of a command, where `$` begins a variable. The path of the program itself has none. */
const argument = (text: string): string => quoted(text.replaceAll("$", "$$$$"))

/** Describes a value that the unit cannot hold. */
export const unitProblem = ({ dataDir, node, program }: UnitFacts): string | null => {
  const wrong = [node, program, dataDir].find((path) => /\p{Cc}/u.test(path))
  return wrong === undefined ? null : `The path ${JSON.stringify(wrong)} has control characters.`
}

const isTemporary = (path: string): boolean => /^\/(?:var\/)?tmp(?:\/|$)/.test(path)

const dataDirLine = (dataDir: string): string => `Environment=${quoted(`DATA_DIR=${dataDir}`)}`

/** Checks whether a unit serves a data folder. */
export const servesFolder = (unit: string, dataDir: string): boolean => unit.split("\n").includes(dataDirLine(dataDir))

/** The whole file. */
export const unitText = ({ dataDir, drainMs, flags, node, nodeFlags, program }: UnitFacts): string => {
  const command = [quoted(node), ...[...nodeFlags, program, "serve", "--no-open", ...flags].map(argument)].join(" ")
  // A private folder for temporary files would hide what is there.
  const privateTmp = [node, program, dataDir].some(isTemporary) ? [] : ["PrivateTmp=yes"]
  return [
    unitMark,
    "[Unit]",
    "Description=Gateway between AI clients and AI providers",
    "StartLimitIntervalSec=60",
    "StartLimitBurst=5",
    "",
    "[Service]",
    "Type=simple",
    `ExecStart=${command}`,
    dataDirLine(dataDir),
    "Restart=on-failure",
    "RestartSec=2",
    `TimeoutStopSec=${Math.ceil(drainMs / 1_000) + goodbyeSeconds}`,
    "LimitNOFILE=65536",
    "UMask=0077",
    "NoNewPrivileges=yes",
    ...privateTmp,
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallArchitectures=native",
    "",
    "[Install]",
    "WantedBy=default.target",
    ""
  ].join("\n")
}
