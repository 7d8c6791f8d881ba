/** Words of the page on which a person allows a login at the command line. */
export const words = {
  title: "Log in a command line",
  intro:
    "A machine on which you have typed `gateway login --sso` asks to act as you. Type the code that it shows. Nobody else has a reason to give you a code.",
  code: "Code",
  hint: "Eight letters, such as BCDF-GHJK.",
  look: "Show what asks",
  wait: "Asking …",
  question: "Allow this login?",
  machine: "Machine",
  address: "Asked from",
  unknown: "not known",
  tunnel: "the internet, through a tunnel",
  at: "Asked",
  device: "The command line goes on by itself.",
  browser: "Your browser then goes back to the command line on this very machine.",
  means: (name: string): string =>
    `The command line can then do what you (${name}) may do here, for seven days at most. Allow it only when you have typed the command yourself, on that machine, just now: the name is what the machine calls itself.`,
  allow: "Allow the login",
  refuse: "Refuse",
  allowed: "Allowed. Go on at the command line; this page can be closed.",
  refused: "Refused. The command line was told so.",
  back: "Going back to the command line …",
  noPerson:
    "You are logged in as the administrator, who is no person of a directory. Log out and sign in by the directory to allow a login; with the password, type `gateway login` and this gateway's address on the machine itself."
} as const
