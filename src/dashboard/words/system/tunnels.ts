/** Words of the area of tunnels. */
export const words = {
  title: "Tunnels",
  hint: "Addresses on the internet for this gateway, without an open port. What comes through one never counts as made on this machine.",
  backends: {
    quick: {
      name: "Quick tunnel",
      what: "An address that is new at every start, without an account. Its program is downloaded the first time and its checksum compared."
    },
    token: { name: "Token tunnel", what: "The address of your account at a tunnel service, for lasting use." },
    mesh: { name: "Mesh funnel", what: "An address of your mesh VPN that stays the same." },
    ssh: { name: "SSH tunnel", what: "A remote forward to a server of yours." }
  },
  phases: {
    stopped: "closed",
    starting: "opening …",
    running: "open",
    needs_auth: "waits for you",
    error: "failed"
  },
  since: "Since",
  restarts: "Opened again by itself",
  keyless: "Without an API key",
  keylessYes: "everybody who knows the address may use it",
  keylessNo: "refused",
  allowKeyless: "Open it although no API key is required",
  open: "Open",
  close: "Close",
  openTitle: (name: string): string => `Open the ${name.toLowerCase().replace("ssh", "SSH")}`,
  closeTitle: (name: string): string => `Close the ${name.toLowerCase().replace("ssh", "SSH")}`,
  openMeans: (isKeyless: boolean): string =>
    isKeyless
      ? "Everybody who learns the address can use your accounts and spend your money: no key is asked for."
      : "The gateway can be reached from the internet by everybody who knows the address and has a key.",
  closeMeans: "What runs through the tunnel is cut, and its address may be another one the next time.",
  authToken: "Authtoken",
  authTokenHint:
    "It may come from the environment setting `TOKEN_TUNNEL_AUTHTOKEN`, from here, or from the body of the request. Empty: the one that is stored. It is stored encrypted and not shown again.",
  destination: "Account and server",
  destinationHint: "user@host or user@host:port.",
  remotePort: "Port on the server",
  remotePortHint: "Empty: the server chooses a free one.",
  hostKey: "Fingerprint of the server's key",
  hostKeyHint: "Needed the first time. On the server: `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`.",
  port: "Public port",
  installed: "installed",
  notInstalled: "not installed",
  daemon: "its service runs",
  noDaemon: "its service does not run",
  loggedIn: "logged in",
  notLoggedIn: "not logged in",
  sudo: "Your password on the gateway's machine",
  sudoHint: "For what needs the rights of root. It is used for this one call and not kept. Only from that machine.",
  install: "Install it",
  startDaemon: "Start its service",
  logIn: "Log in",
  openInBrowser: "Open this in a browser to log this machine in:",
  funnelNotEnabled: "The network does not allow funnels yet:",
  allow: "Allow them"
} as const
