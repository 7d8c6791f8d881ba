/** Words of the shell: navigation, the state of the connection, the login. */
export const words = {
  title: "Gateway",
  skip: "Skip to the content",
  navigation: "Views",
  entries: {
    home: "Home",
    me: "Yours",
    requests: "Requests",
    providers: "Providers",
    routing: "Routing",
    keys: "Keys & money",
    playground: "Playground",
    inspector: "Inspector",
    system: "System"
  },
  live: { live: "live", paused: "paused", connecting: "connecting …", cut: "no live feed, asked again and again" },
  tab: (needs: number): string => (needs === 0 ? "Gateway" : `(${needs}) Gateway`),
  unreachable: (since: string): string => `gateway unreachable since ${since}`,
  search: "Search or command",
  look: {
    title: "Look",
    theme: "Theme",
    themes: { system: "as the system", light: "light", dark: "dark" },
    density: "Rows",
    densities: { compact: "compact", usual: "usual", roomy: "roomy" },
    shortcuts: "Keys of the page"
  },
  keys: {
    title: "Keys",
    list: [
      ["Ctrl K", "Search or command"],
      ["/", "Go to the filter"],
      ["j k", "Next and previous row"],
      ["Enter o", "Open the row"],
      ["Escape", "Close a dialog or a list of proposals"],
      ["?", "This list"]
    ] as const,
    off: "None counts while you type. All can be turned off under “Look”.",
    close: "Close"
  },
  palette: {
    title: "Search or command",
    hint: "A view, an account, a key, a model, an operation …",
    none: "Nothing has such a name.",
    addProvider: "Add a provider",
    createKey: "Create a key",
    themes: { system: "Theme of the system", light: "Light theme", dark: "Dark theme" },
    kinds: {
      view: "view",
      area: "area of the system",
      action: "action",
      connection: "connection",
      key: "key",
      combo: "combo",
      model: "model: its requests",
      operation: "operation"
    }
  },
  logout: "Log out",
  noRight: (role: string): string => `The role '${role}' does not open this view.`,
  toOwn: "Your page",
  newVersion: "The gateway has another version of the dashboard now. What you typed is kept.",
  noVersion: "The gateway that answers now has no dashboard: parts of this page may fail.",
  reload: "Load it",
  clock: {
    behind: (by: string): string =>
      `The clock of this machine is ${by} behind the gateway's. Times here are the gateway's.`,
    ahead: (by: string): string =>
      `The clock of this machine is ${by} ahead of the gateway's. Times here are the gateway's.`
  },
  notFound: "There is no such page.",
  toHome: "To the first page",
  broken: "This view has failed. The others still work.",
  login: {
    title: "Log in",
    again: "Your session has ended, or another gateway answers. Log in again: what you typed is still here.",
    password: "Admin password",
    submit: "Log in",
    issuers: "Sign in by a directory",
    by: (issuer: string) => `Sign in by ${issuer}`,
    own: "You have an API key? See what it may do and has used.",
    wait: "Logging in …",
    noPassword: "There is no admin password yet. On the machine that runs the gateway type:",
    command: "gateway open",
    opened:
      "It opens this page signed in, where you can choose a password. An admin key is for programs: no page takes it."
  },
  password: {
    title: "Choose an admin password",
    why: "With it you can log in from any browser that reaches this gateway.",
    field: "New password",
    hint: "8 to 200 characters.",
    save: "Save the password",
    later: "Later"
  }
} as const
