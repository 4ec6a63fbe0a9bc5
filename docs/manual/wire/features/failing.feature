Feature: What a claim that does not hold looks like

  Background:
    Given the program "seq" is "seq 20000"
    And the program "awk" is:
      """
      awk 'BEGIN { for (i = 1; i <= 20000; i++) print i }'
      """
    When they are raced for at most 30 s with an error of 1%

  Scenario: Refuted
    Then "seq" is at least 90x faster than "awk"

  Scenario: Undecided
    When they are raced for at most 2 rounds
    Then "seq" is faster than "awk"

  Scenario: Void
    Given the program "broken" is "cat /nowhere"
    Then "broken" is faster than "awk"

  Scenario: Another verdict than the expected one
    Then the verdicts are:
      | claim                  | verdict |
      | seq is faster than awk | refuted |

  Scenario: A slip in a claim
    Then "seq" is fsater than "awk"

  Scenario: An unknown step
    Then "seq" is nicer than "awk"
