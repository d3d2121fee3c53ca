//! What the demonstration writes about.

/// Twenty jokes, in no order.
pub(super) const JOKES: [&str; 20] = [
    "Why do programmers prefer dark mode? Because light attracts bugs.",
    "A SQL query walks into a bar, goes up to two tables and asks: may I join you?",
    "There are 10 kinds of people: those who read binary and those who do not.",
    "I would tell you a joke about UDP, but you might not get it.",
    "To understand recursion, you must first understand recursion.",
    "Debugging is being the detective in a crime where you are also the culprit.",
    "My code never has bugs; it just grows random features.",
    "What is an algorithm? What a programmer says to avoid explaining it.",
    "How many programmers change a light bulb? None, it is a hardware problem.",
    "Knock, knock. Race condition. Who is there?",
    "Nothing is as permanent as a temporary fix.",
    "It works on my machine, so we ship the machine.",
    "Cache invalidation jokes are funny only once.",
    "Why was the developer broke? He used up all his cache.",
    "An optimist says the glass is half full; an engineer says it is twice too large.",
    "Zero-based lists are the number one cause of off-by-one errors.",
    "Learn to code, they said. It compiles, I said. That was yesterday.",
    "Real programmers count from zero, on both hands.",
    "Git is easy: just delete the folder and clone it again.",
    "Unit tests passed. The unit did not.",
];
