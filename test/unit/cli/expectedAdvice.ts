/** What a person is advised after every refusal: each row has the credentials and places with the same advice, and that advice. */
export const expectedAdvice: Readonly<Record<string, ReadonlyArray<readonly [cells: string, advice: string | null]>>> =
  {
    offline: [
      [
        "none/here",
        "Start it with 'gateway serve', or name another one with --url or GATEWAY_URL. One on another machine: 'gateway login <url>'."
      ],
      [
        "none/elsewhere flag/elsewhere environment/elsewhere inPlaceOfOwner/elsewhere owner/elsewhere",
        "Check the address, and on that machine that the gateway runs; or name another one with --url or GATEWAY_URL."
      ],
      [
        "none/tunnel flag/tunnel environment/tunnel inPlaceOfOwner/tunnel owner/tunnel",
        "The tunnel may be closed or have another address now: 'gateway tunnel list' on the gateway's machine shows it. Or name another one with --url or GATEWAY_URL."
      ],
      [
        "flag/here environment/here inPlaceOfOwner/here owner/here",
        "Start it with 'gateway serve', or name another one with --url or GATEWAY_URL."
      ],
      [
        "login/here",
        "You are logged in to it: start it with 'gateway serve', choose another with 'gateway context use', or use --local for this data folder's."
      ],
      [
        "login/elsewhere",
        "You are logged in to it: check on that machine that it runs, choose another with 'gateway context use', or use --local for this machine's."
      ],
      [
        "login/tunnel",
        "You are logged in to it: the tunnel may be closed or have another address now. Choose another with 'gateway context use', or use --local for this machine's."
      ]
    ],
    notOurs: [["all", "Check the address with --url, and that both ends are of one version ('gateway status')."]],
    timeout: [["all", "Wait a little, then run the command again."]],
    keyMissing: [
      [
        "none/here",
        "Give a key with --gateway-key or GATEWAY_ADMIN_KEY; the user who runs the gateway needs none: try --local."
      ],
      [
        "none/elsewhere none/tunnel",
        "Log in with 'gateway login <url>', or give a key with --gateway-key or GATEWAY_ADMIN_KEY; on the gateway's own machine, the user who runs it needs none: --local there."
      ],
      [
        "flag/here flag/elsewhere flag/tunnel environment/here environment/elsewhere environment/tunnel inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel login/here login/elsewhere login/tunnel owner/here owner/elsewhere owner/tunnel",
        "A key was sent and did not arrive: a program between may take the header 'Authorization' out. Ask the gateway directly."
      ]
    ],
    keyUnknown: [
      [
        "none/here",
        "Give a key with --gateway-key or GATEWAY_ADMIN_KEY; the user who runs the gateway needs none: try --local."
      ],
      [
        "none/elsewhere none/tunnel",
        "Log in with 'gateway login <url>', or give a key with --gateway-key or GATEWAY_ADMIN_KEY; on the gateway's own machine, the user who runs it needs none: --local there."
      ],
      ["flag/here", "Check --gateway-key. The user who runs the gateway needs none: try --local."],
      [
        "flag/elsewhere flag/tunnel",
        "Check --gateway-key, or log in with 'gateway login <url>'; on the gateway's own machine, the user who runs it needs none: --local there."
      ],
      [
        "environment/here",
        "The key of GATEWAY_API_KEY was used. Give this gateway's with --gateway-key, or unset the variable. The user who runs the gateway needs none: try --local."
      ],
      [
        "environment/elsewhere environment/tunnel",
        "The key of GATEWAY_API_KEY was used. Give this gateway's with --gateway-key, or unset the variable and log in with 'gateway login <url>'."
      ],
      [
        "inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel",
        "The key of GATEWAY_API_KEY was used. Give this gateway's with --gateway-key, or give --local: you run this gateway, and need none."
      ],
      [
        "login/here login/elsewhere login/tunnel",
        "The key of this login is gone there: 'gateway logout', then 'gateway login <url>' once more."
      ],
      ["owner/here owner/elsewhere owner/tunnel", "It may have been restarted just now: run the command again."]
    ],
    keyEnded: [
      [
        "none/here",
        "Give a key with --gateway-key or GATEWAY_ADMIN_KEY; the user who runs the gateway needs none: try --local."
      ],
      [
        "none/elsewhere none/tunnel",
        "Log in with 'gateway login <url>', or give a key with --gateway-key or GATEWAY_ADMIN_KEY; on the gateway's own machine, the user who runs it needs none: --local there."
      ],
      [
        "flag/here",
        "Use another key; 'gateway key edit' and 'gateway key enable' change this one. The user who runs the gateway needs none: try --local."
      ],
      [
        "flag/elsewhere flag/tunnel",
        "Use another key; 'gateway key edit' and 'gateway key enable' change this one, with an admin's key."
      ],
      [
        "environment/here",
        "The key of GATEWAY_API_KEY was used. Use another key; 'gateway key edit' and 'gateway key enable' change this one. The user who runs the gateway needs none: try --local."
      ],
      [
        "environment/elsewhere environment/tunnel",
        "The key of GATEWAY_API_KEY was used. Use another key; 'gateway key edit' and 'gateway key enable' change this one, with an admin's key."
      ],
      [
        "inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel",
        "The key of GATEWAY_API_KEY was used. Use another key; 'gateway key edit' and 'gateway key enable' change this one, or give --local: you run this gateway, and need none."
      ],
      [
        "login/here login/elsewhere login/tunnel",
        "The key of this login has ended: 'gateway logout', then 'gateway login <url>' once more."
      ],
      ["owner/here owner/elsewhere owner/tunnel", null]
    ],
    scopeMissing: [
      [
        "none/here",
        "Give a key with --gateway-key or GATEWAY_ADMIN_KEY; the user who runs the gateway needs none: try --local."
      ],
      [
        "none/elsewhere none/tunnel",
        "Log in with 'gateway login <url>', or give a key with --gateway-key or GATEWAY_ADMIN_KEY; on the gateway's own machine, the user who runs it needs none: --local there."
      ],
      [
        "flag/here login/here",
        "For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one. The user who runs the gateway needs none: try --local."
      ],
      [
        "flag/elsewhere flag/tunnel login/elsewhere login/tunnel",
        "For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one, with an admin's key, or on the gateway's own machine as the user who runs it."
      ],
      [
        "environment/here",
        "The key of GATEWAY_API_KEY was used. For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one. The user who runs the gateway needs none: try --local."
      ],
      [
        "environment/elsewhere environment/tunnel",
        "The key of GATEWAY_API_KEY was used. For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one, with an admin's key, or on the gateway's own machine as the user who runs it."
      ],
      [
        "inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel",
        "The key of GATEWAY_API_KEY was used. For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one, or give --local: you run this gateway, and need none."
      ],
      ["owner/here owner/elsewhere owner/tunnel", null]
    ],
    keyRestricted: [
      ["none/here none/elsewhere none/tunnel owner/here owner/elsewhere owner/tunnel", null],
      [
        "flag/here login/here",
        "Use a key that may; 'gateway key edit' changes what this one may. The user who runs the gateway needs none: try --local."
      ],
      [
        "flag/elsewhere flag/tunnel login/elsewhere login/tunnel",
        "Use a key that may; 'gateway key edit' changes what this one may, with an admin's key, or on the gateway's own machine as the user who runs it."
      ],
      [
        "environment/here",
        "The key of GATEWAY_API_KEY was used. Use a key that may; 'gateway key edit' changes what this one may. The user who runs the gateway needs none: try --local."
      ],
      [
        "environment/elsewhere environment/tunnel",
        "The key of GATEWAY_API_KEY was used. Use a key that may; 'gateway key edit' changes what this one may, with an admin's key, or on the gateway's own machine as the user who runs it."
      ],
      [
        "inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel",
        "The key of GATEWAY_API_KEY was used. Use a key that may; 'gateway key edit' changes what this one may, or give --local: you run this gateway, and need none."
      ]
    ],
    adminMissing: [
      [
        "none/here flag/here environment/here login/here",
        "The user who runs the gateway needs no administrator: try --local."
      ],
      [
        "none/elsewhere none/tunnel flag/elsewhere flag/tunnel environment/elsewhere environment/tunnel login/elsewhere login/tunnel",
        "An administrator is set on the gateway's machine."
      ],
      [
        "inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel",
        "You run this gateway, and need no administrator: give --local."
      ],
      ["owner/here owner/elsewhere owner/tunnel", null]
    ],
    sessionNeeded: [
      ["none/here", "Try --local, as the user who runs the gateway, or do it on the dashboard."],
      ["none/elsewhere none/tunnel", "Run the command on the gateway's machine, as the user who runs it."],
      [
        "flag/here environment/here login/here",
        "No key replaces the session. Try --local, as the user who runs the gateway, or do it on the dashboard."
      ],
      [
        "flag/elsewhere flag/tunnel environment/elsewhere environment/tunnel login/elsewhere login/tunnel",
        "No key replaces the session. Run the command on the gateway's machine, as the user who runs it."
      ],
      [
        "inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel",
        "No key replaces the session. Give --local: you run this gateway."
      ],
      ["owner/here owner/elsewhere owner/tunnel", "Do it on the dashboard, after a log-in with the admin password."]
    ],
    localOnly: [
      [
        "none/here flag/here environment/here inPlaceOfOwner/here login/here",
        "Ask it directly at its own address, without a proxy between: try --local."
      ],
      [
        "none/elsewhere flag/elsewhere environment/elsewhere inPlaceOfOwner/elsewhere login/elsewhere owner/elsewhere owner/tunnel",
        "Run the command on the gateway's machine."
      ],
      [
        "none/tunnel flag/tunnel environment/tunnel inPlaceOfOwner/tunnel login/tunnel",
        "Run the command on the gateway's machine, with the gateway's own address in place of the tunnel's."
      ],
      ["owner/here", "Ask it directly at its own address, without a proxy between."]
    ],
    ownerOnly: [
      ["none/here flag/here environment/here login/here", "Try --local, as the user who runs the gateway."],
      [
        "none/elsewhere none/tunnel flag/elsewhere flag/tunnel environment/elsewhere environment/tunnel login/elsewhere login/tunnel",
        "Run the command on the gateway's machine, as the user who runs it."
      ],
      ["inPlaceOfOwner/here inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel", "Give --local: you run this gateway."],
      ["owner/here owner/elsewhere owner/tunnel", null]
    ],
    addressFiltered: [
      [
        "none/here flag/here environment/here inPlaceOfOwner/here login/here owner/here",
        "'gateway settings ip-filter show --local' shows which addresses are let in."
      ],
      [
        "none/elsewhere none/tunnel flag/elsewhere flag/tunnel environment/elsewhere environment/tunnel inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel login/elsewhere login/tunnel owner/elsewhere owner/tunnel",
        "On the gateway's machine, 'gateway settings ip-filter show --local' shows which addresses are let in."
      ]
    ],
    keysNotRequired: [["all", null]],
    siteRefused: [
      [
        "none/here flag/here environment/here inPlaceOfOwner/here login/here owner/here",
        "Use the address that it listens on, or let this name in: 'allowedHosts' of 'gateway settings'."
      ],
      [
        "none/elsewhere none/tunnel flag/elsewhere flag/tunnel environment/elsewhere environment/tunnel inPlaceOfOwner/elsewhere inPlaceOfOwner/tunnel login/elsewhere login/tunnel owner/elsewhere owner/tunnel",
        "Use the address that it listens on, or let this name in on the gateway's machine: 'allowedHosts' of 'gateway settings'."
      ]
    ],
    guarded: [["all", "A guard does not let it pass, whatever the key. 'gateway guardrails show' shows the rules."]],
    pluginBlocked: [
      ["all", "A plugin does not let it pass, whatever the key. 'gateway plugin list' shows the plugins."]
    ],
    providerRefused: [
      [
        "all",
        "The provider refuses the credential that the gateway has for it: 'gateway provider validate' shows which connection."
      ]
    ],
    inFront: [
      [
        "all",
        "It was refused before it came to the gateway, by a program between, such as a proxy. The gateway's own keys do not help there."
      ]
    ],
    forbidden: [["all", null]],
    badRequest: [["all", null]],
    tooMany: [["all", "Wait a little, then run the command again."]],
    failed: [["all", "Wait a little, then run the command again."]]
  }
