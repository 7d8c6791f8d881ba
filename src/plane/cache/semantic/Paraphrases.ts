/**
 * Questions in several wordings, to measure how well vectors of a model distinguish the same question from a similar one (`gateway cache
 * measure`, `docs/cache.md`). A list of topics; a topic is a list of questions that are easily taken for each other; a question is a list of its
 * wordings.
 */
export const topics: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> = [
  [
    [
      "How do I reset my password?",
      "I forgot my password, how can I set a new one?",
      "What are the steps to reset a password?",
      "How can I get a new password?"
    ],
    [
      "How do I delete my account?",
      "What is the way to remove my account for good?",
      "How can I close my account?",
      "I want to get rid of my account, what do I have to do?"
    ],
    [
      "How do I change the e-mail address of my account?",
      "Where can I update my account's e-mail address?",
      "What do I do to use another e-mail address for my account?",
      "How can I replace the e-mail address of my account?"
    ],
    [
      "How do I enable two-factor authentication?",
      "How can I enable 2FA for my login?",
      "What do I do to enable a second factor when logging in?",
      "Where do I enable two-factor login?"
    ],
    [
      "How do I disable two-factor authentication?",
      "How can I disable 2FA for my login?",
      "What do I do to disable the second factor when logging in?",
      "Where do I disable two-factor login?"
    ],
    [
      "Why was my payment declined?",
      "What is the reason that my payment was declined?",
      "My payment got declined, why?",
      "Why did my payment get rejected?"
    ],
    [
      "How can I get a refund?",
      "How do I ask for my money back?",
      "What do I have to do to be refunded?",
      "Is there a way to get a refund for my purchase?"
    ],
    [
      "How do I cancel my subscription?",
      "What are the steps to cancel a subscription?",
      "I want to end my subscription, how does that work?",
      "How can I stop my subscription?"
    ]
  ],
  [
    [
      "How do I reverse a list in Python?",
      "What is the way to reverse a Python list?",
      "Reverse a list with Python, how?",
      "How can a list be reversed in Python?"
    ],
    [
      "How do I reverse a string in Python?",
      "What is the way to reverse a Python string?",
      "Reverse a string with Python, how?",
      "How can a string be reversed in Python?"
    ],
    [
      "How do I sort a list in Python in ascending order?",
      "Sort a Python list from the smallest to the largest.",
      "What is the way to sort a list in Python ascending?",
      "How can I order a Python list ascending?"
    ],
    [
      "How do I sort a list in Python in descending order?",
      "Sort a Python list from the largest to the smallest.",
      "What is the way to sort a list in Python descending?",
      "How can I order a Python list descending?"
    ],
    [
      "How do I convert a string to an integer in JavaScript?",
      "In JavaScript, how can I turn a string into an integer?",
      "What is the way to parse an integer from a string in JavaScript?",
      "How can a string be made an integer in JavaScript?"
    ],
    [
      "How do I convert an integer to a string in JavaScript?",
      "In JavaScript, how can I turn an integer into a string?",
      "What is the way to format an integer as a string in JavaScript?",
      "How can an integer be made a string in JavaScript?"
    ],
    [
      "How do I read a file line by line in Go?",
      "What is the way to read a file by lines in Go?",
      "In Go, how can I go through a file line by line?",
      "Read a file one line at a time with Go."
    ],
    [
      "How do I write lines to a file in Go?",
      "What is the way to write a file line by line in Go?",
      "In Go, how can I put lines into a file?",
      "Write a file one line at a time with Go."
    ]
  ],
  [
    [
      "What is the capital of Australia?",
      "Which city is the capital of Australia?",
      "Can you tell me the capital city of Australia?",
      "Name the capital of Australia."
    ],
    [
      "What is the capital of Austria?",
      "Which city is the capital of Austria?",
      "Can you tell me the capital city of Austria?",
      "Name the capital of Austria."
    ],
    [
      "How many people live in Canada?",
      "What is the population of Canada?",
      "How large is the population of Canada?",
      "Tell me how many inhabitants Canada has."
    ],
    [
      "How large is the area of Canada?",
      "What area does Canada cover?",
      "How many square kilometres does Canada have?",
      "Tell me the area of Canada."
    ],
    [
      'Who wrote the novel "War and Peace"?',
      'Which author wrote "War and Peace"?',
      'By whom is "War and Peace"?',
      'Name the author of "War and Peace".'
    ],
    [
      'Who wrote the novel "Crime and Punishment"?',
      'Which author wrote "Crime and Punishment"?',
      'By whom is "Crime and Punishment"?',
      'Name the author of "Crime and Punishment".'
    ],
    [
      "When did World War 1 end?",
      "In which year was World War 1 over?",
      "What is the year in which World War 1 ended?",
      "Which year was the end of World War 1?"
    ],
    [
      "When did World War 2 end?",
      "In which year was World War 2 over?",
      "What is the year in which World War 2 ended?",
      "Which year was the end of World War 2?"
    ]
  ],
  [
    [
      "How long do I boil an egg until it is soft?",
      "How many minutes does a soft-boiled egg take?",
      "What is the time to cook a soft egg?",
      "How long does it take to soft-boil an egg?"
    ],
    [
      "How long do I boil an egg until it is hard?",
      "How many minutes does a hard-boiled egg take?",
      "What is the time to cook a hard egg?",
      "How long does it take to hard-boil an egg?"
    ],
    [
      "What can I use instead of butter when baking?",
      "Which substitutes are there for butter in baking?",
      "How can I replace butter in a cake?",
      "I have no butter for baking, what else works?"
    ],
    [
      "What can I use instead of eggs when baking?",
      "Which substitutes are there for eggs in baking?",
      "How can I replace eggs in a cake?",
      "I have no eggs for baking, what else works?"
    ],
    [
      "Give me a recipe for a cake with nuts.",
      "How do I make a nut cake?",
      "I would like to bake a cake with nuts in it, how?",
      "What is a good recipe for cake with nuts?"
    ],
    [
      "Give me a recipe for a cake without nuts.",
      "How do I make a cake that has no nuts?",
      "I would like to bake a cake without nuts in it, how?",
      "What is a good recipe for a cake without nuts?"
    ],
    [
      "How much water do I need for 200 g of rice?",
      "How much water goes with 200 g of rice?",
      "What amount of water is right for 200 g of rice?",
      "I cook 200 g of rice, how much water do I take?"
    ],
    [
      "How much water do I need for 500 g of rice?",
      "How much water goes with 500 g of rice?",
      "What amount of water is right for 500 g of rice?",
      "I cook 500 g of rice, how much water do I take?"
    ]
  ],
  [
    [
      "What is the cheapest way from Paris to London?",
      "How do I get from Paris to London for the least money?",
      "Which is the cheapest connection from Paris to London?",
      "How can I travel cheaply from Paris to London?"
    ],
    [
      "What is the cheapest way from London to Paris?",
      "How do I get from London to Paris for the least money?",
      "Which is the cheapest connection from London to Paris?",
      "How can I travel cheaply from London to Paris?"
    ],
    [
      "Do I need a visa for Japan?",
      "Is a visa required to travel to Japan?",
      "Must I have a visa to visit Japan?",
      "Does one need a visa for a trip to Japan?"
    ],
    [
      "Do I need vaccinations for Japan?",
      "Are vaccinations required to travel to Japan?",
      "Must I be vaccinated to visit Japan?",
      "Does one need vaccinations for a trip to Japan?"
    ],
    [
      "What should I pack for a week in Iceland in winter?",
      "Which things do I need for a winter week in Iceland?",
      "Write a packing list for one week of winter in Iceland.",
      "What do I take along for a week in Iceland in winter?"
    ],
    [
      "What should I pack for a week in Iceland in summer?",
      "Which things do I need for a summer week in Iceland?",
      "Write a packing list for one week of summer in Iceland.",
      "What do I take along for a week in Iceland in summer?"
    ],
    [
      "What is the best time to visit Thailand?",
      "When should I travel to Thailand?",
      "Which months are best for a trip to Thailand?",
      "In which season is Thailand best to visit?"
    ],
    [
      "What is the worst time to visit Thailand?",
      "When should I not travel to Thailand?",
      "Which months are worst for a trip to Thailand?",
      "In which season is Thailand worst to visit?"
    ]
  ],
  [
    [
      "How much is 100 USD in EUR?",
      "What are 100 USD worth in EUR?",
      "Convert 100 USD to EUR.",
      "How many EUR do I get for 100 USD?"
    ],
    [
      "How much is 100 EUR in USD?",
      "What are 100 EUR worth in USD?",
      "Convert 100 EUR to USD.",
      "How many USD do I get for 100 EUR?"
    ],
    [
      "What is the difference between a stock and a bond?",
      "How does a stock differ from a bond?",
      "Explain how stocks and bonds differ.",
      "In what way is a stock different from a bond?"
    ],
    [
      "What do a stock and a bond have in common?",
      "How is a stock similar to a bond?",
      "Explain what stocks and bonds share.",
      "In what way is a stock the same as a bond?"
    ],
    [
      "Why do interest rates go up?",
      "What makes interest rates rise?",
      "What are the reasons for rising interest rates?",
      "For what reasons do interest rates increase?"
    ],
    [
      "Why do interest rates go down?",
      "What makes interest rates fall?",
      "What are the reasons for falling interest rates?",
      "For what reasons do interest rates decrease?"
    ],
    [
      "How do I buy shares for the first time?",
      "What are the first steps to buy shares?",
      "I have never bought shares, how does buying them work?",
      "Explain to a beginner how to buy shares."
    ],
    [
      "How do I sell shares for the first time?",
      "What are the first steps to sell shares?",
      "I have never sold shares, how does selling them work?",
      "Explain to a beginner how to sell shares."
    ]
  ],
  [
    [
      "How do I start a Docker container?",
      "What is the command to start a Docker container?",
      "Start a container with Docker, how?",
      "How can a Docker container be started?"
    ],
    [
      "How do I stop a Docker container?",
      "What is the command to stop a Docker container?",
      "Stop a container with Docker, how?",
      "How can a Docker container be stopped?"
    ],
    [
      "How do I undo the last commit in Git?",
      "What is the way to undo a commit that I just made in Git?",
      "Take back the latest Git commit, how?",
      "How can the last Git commit be undone?"
    ],
    [
      "How do I change the message of the last commit in Git?",
      "What is the way to edit the message of a commit that I just made in Git?",
      "Reword the latest Git commit, how?",
      "How can the message of the last Git commit be changed?"
    ],
    [
      "How do I copy a file from a server to my machine with scp?",
      "With scp, how can I download a file from a server?",
      "What is the scp command to fetch a file from a server?",
      "Get a remote file onto my machine with scp, how?"
    ],
    [
      "How do I copy a file from my machine to a server with scp?",
      "With scp, how can I upload a file to a server?",
      "What is the scp command to put a file on a server?",
      "Get a local file onto a server with scp, how?"
    ],
    [
      "Which process listens on port 8080 on Linux?",
      "How do I find what uses port 8080 on Linux?",
      "Show the process that has port 8080 open on Linux.",
      "On Linux, how can I see who listens on port 8080?"
    ],
    [
      "Which process listens on port 8443 on Linux?",
      "How do I find what uses port 8443 on Linux?",
      "Show the process that has port 8443 open on Linux.",
      "On Linux, how can I see who listens on port 8443?"
    ]
  ],
  [
    [
      "How can I gain weight?",
      "What helps to gain weight?",
      "What should I do to put on weight?",
      "Give me tips for gaining weight."
    ],
    [
      "How can I lose weight?",
      "What helps to lose weight?",
      "What should I do to take off weight?",
      "Give me tips for losing weight."
    ],
    [
      "May I take ibuprofen with alcohol?",
      "Is it safe to drink alcohol when taking ibuprofen?",
      "Can ibuprofen and alcohol be combined?",
      "Is drinking alcohol together with ibuprofen dangerous?"
    ],
    [
      "May I take ibuprofen with coffee?",
      "Is it safe to drink coffee when taking ibuprofen?",
      "Can ibuprofen and coffee be combined?",
      "Is drinking coffee together with ibuprofen dangerous?"
    ],
    [
      "What should I eat before a run?",
      "Which food is good before running?",
      "What is a good meal before going for a run?",
      "Before running, what do I eat best?"
    ],
    [
      "What should I eat after a run?",
      "Which food is good after running?",
      "What is a good meal after going for a run?",
      "After running, what do I eat best?"
    ],
    [
      "How much sleep does an adult need?",
      "How many hours should an adult sleep?",
      "What amount of sleep is right for adults?",
      "How long should grown-ups sleep?"
    ],
    [
      "How much sleep does a newborn need?",
      "How many hours should a newborn sleep?",
      "What amount of sleep is right for newborns?",
      "How long should new babies sleep?"
    ]
  ]
]

/**
 * Topics that were written after the rules of `Wording`: questions that are longer by a word that matters, and others.
 */
export const laterTopics: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> = [
  [
    [
      "How do I delete a file on Linux?",
      "What is the way to delete a file on Linux?",
      "How can I remove a file on Linux?",
      "Delete a file on Linux, how?"
    ],
    [
      "How do I delete an empty folder on Linux?",
      "What is the way to delete an empty folder on Linux?",
      "How can I remove an empty folder on Linux?",
      "Delete an empty folder on Linux, how?"
    ],
    [
      "How do I securely delete a file on Linux?",
      "What is the way to delete a file securely on Linux?",
      "How can I remove a file on Linux securely?",
      "Delete a file securely on Linux, how?"
    ],
    [
      "How do I list all users on Linux?",
      "What shows all users on Linux?",
      "How can I see the users on Linux?",
      "List the users of a Linux machine, how?"
    ],
    [
      "How do I list all logged-in users on Linux?",
      "What shows all users who are logged in on Linux?",
      "How can I see the logged-in users on Linux?",
      "List the logged-in users of a Linux machine, how?"
    ],
    [
      "How do I rename a file on Linux?",
      "What is the way to rename a file on Linux?",
      "How can I change the name of a file on Linux?",
      "Rename a file on Linux, how?"
    ]
  ],
  [
    [
      "What are the opening hours of the museum?",
      "When is the museum open?",
      "When does the museum open and close?",
      "Tell me the museum's opening hours."
    ],
    [
      "What are the opening hours of the museum on Sunday?",
      "When is the museum open on Sunday?",
      "When does the museum open and close on Sunday?",
      "Tell me the museum's Sunday opening hours."
    ],
    [
      "How much is a ticket for the museum?",
      "What does a museum ticket cost?",
      "What is the price of a museum ticket?",
      "Tell me the price of a ticket for the museum."
    ],
    [
      "How much is a ticket for the museum for children?",
      "What does a museum ticket for children cost?",
      "What is the price of a child's museum ticket?",
      "Tell me the price of a children's ticket for the museum."
    ],
    [
      "May I take photos in the museum?",
      "Are photos allowed in the museum?",
      "Is it allowed to take photos in the museum?",
      "Can visitors take photos in the museum?"
    ],
    [
      "May I take food into the museum?",
      "Is food allowed in the museum?",
      "Is it allowed to bring food into the museum?",
      "Can visitors bring food into the museum?"
    ]
  ],
  [
    [
      "Who was the first president of the United States?",
      "Name the first president of the United States.",
      "Which person was the first US president?",
      "Tell me who was the first president of the United States."
    ],
    [
      "Who was the second president of the United States?",
      "Name the second president of the United States.",
      "Which person was the second US president?",
      "Tell me who was the second president of the United States."
    ],
    [
      "Who is taller, a giraffe or an elephant?",
      "Which is taller, a giraffe or an elephant?",
      "Is a giraffe or an elephant taller?",
      "Of a giraffe and an elephant, which one is taller?"
    ],
    [
      "Who is heavier, a giraffe or an elephant?",
      "Which is heavier, a giraffe or an elephant?",
      "Is a giraffe or an elephant heavier?",
      "Of a giraffe and an elephant, which one is heavier?"
    ],
    [
      "Did Germany beat Brazil?",
      "Has Germany beaten Brazil?",
      "Was it Germany that beat Brazil?",
      "Tell me whether Germany beat Brazil."
    ],
    [
      "Did Brazil beat Germany?",
      "Has Brazil beaten Germany?",
      "Was it Brazil that beat Germany?",
      "Tell me whether Brazil beat Germany."
    ]
  ],
  [
    [
      "What is the boiling point of water?",
      "At which temperature does water boil?",
      "How hot is boiling water?",
      "Tell me the boiling point of water."
    ],
    [
      "What is the boiling point of salt water?",
      "At which temperature does salt water boil?",
      "How hot is boiling salt water?",
      "Tell me the boiling point of salt water."
    ],
    [
      "What is the freezing point of water?",
      "At which temperature does water freeze?",
      "How cold is freezing water?",
      "Tell me the freezing point of water."
    ],
    [
      "How does a heat pump work?",
      "Explain how a heat pump works.",
      "What is the principle of a heat pump?",
      "In what way does a heat pump work?"
    ],
    [
      "How does a heat exchanger work?",
      "Explain how a heat exchanger works.",
      "What is the principle of a heat exchanger?",
      "In what way does a heat exchanger work?"
    ],
    [
      "How loud is a heat pump?",
      "How much noise does a heat pump make?",
      "What is the noise level of a heat pump?",
      "Tell me how loud a heat pump is."
    ]
  ]
]

export interface Pair {
  readonly one: string
  readonly other: string
  /** True when they are wordings of one question. */
  readonly isSame: boolean
}

const pairsIn = <A>(items: ReadonlyArray<A>): ReadonlyArray<readonly [A, A]> =>
  items.flatMap((one, at) => items.slice(at + 1).map((other) => [one, other] as const))

/** All wordings of each question with each other, and with all those of the other questions of its topic. */
export const pairsOf = (from: typeof topics): ReadonlyArray<Pair> =>
  from.flatMap((questions) => [
    ...questions.flatMap((wordings) => pairsIn(wordings).map(([one, other]) => ({ one, other, isSame: true }))),
    ...pairsIn(questions).flatMap(([these, those]) =>
      these.flatMap((one) => those.map((other) => ({ one, other, isSame: false })))
    )
  ])
