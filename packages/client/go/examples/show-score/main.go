// Command show-score prints the engagement score of the lead with an alias, such as `email ada@example.com`; where there is none, the code of
// the problem.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	leadscoring "lead-scoring/client-go"
)

func main() {
	ctx := context.Background()
	client, err := leadscoring.NewClientWithResponses(os.Getenv("API_URL"), leadscoring.WithToken(os.Getenv("LEAD_SCORING_TOKEN")))
	check(err)
	found, err := client.FindLeadByAliasWithResponse(ctx, &leadscoring.FindLeadByAliasParams{AliasKind: os.Args[1], Alias: os.Args[2]})
	check(err)
	switch {
	case found.JSON404 != nil:
		fmt.Println(found.JSON404.Code)
	case found.JSON401 != nil:
		fmt.Println(found.JSON401.Code)
	case found.JSON200 == nil:
		log.Fatal(found.Status())
	default:
		answer, err := client.GetScoreWithResponse(ctx, found.JSON200.LeadID, nil)
		check(err)
		if answer.JSON200 == nil {
			log.Fatal(answer.Status())
		}
		fmt.Println(answer.JSON200.Score)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
