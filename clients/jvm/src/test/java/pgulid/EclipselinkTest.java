package pgulid;

import static org.junit.Assert.*;

import java.io.StringWriter;
import java.util.*;
import javax.persistence.*;
import org.junit.*;
import shop.Jpa;

public class EclipselinkTest {
    /** What a user writes who knows no converter. */
    @Entity(name = "Guess") @Table(name = "orders")
    public static class Guess {
        @Id public String id;
        public String note;
    }

    EntityManager manager;
    String url;

    @Before public void open() throws Exception {
        url = Database.create("jvm_eclipselink", Database.TABLES, Database.sample());
        manager = open("");
    }

    @After public void close() {
        manager.getEntityManagerFactory().close();
    }

    EntityManager open(String options) {
        return Persistence.createEntityManagerFactory("shop", Map.of("javax.persistence.jdbc.url", url + options,
            "eclipselink.logging.level", "OFF", "eclipselink.session-name", "session" + options)).createEntityManager();
    }

    Jpa.Order store(Jpa.Customer customer, String note) {
        Jpa.Order order = new Jpa.Order();
        order.id = Jpa.newId(manager);
        order.customer = customer;
        order.note = note;
        manager.persist(order);
        return order;
    }

    void forget() {
        manager.clear();
        manager.getEntityManagerFactory().getCache().evictAll();
    }

    @Test public void insertsFindsListsAndMerges() {
        manager.getTransaction().begin();
        Jpa.Customer ada = new Jpa.Customer();
        ada.id = Jpa.newId(manager);
        ada.name = "Ada";
        manager.persist(ada);
        Jpa.Order first = store(ada, "first"), second = store(ada, "second");
        manager.getTransaction().commit();
        forget();
        assertEquals("first", manager.find(Jpa.Order.class, first.id).note);
        assertEquals(ada.id, manager.find(Jpa.Order.class, first.id).customer.id);
        assertEquals(2, manager.find(Jpa.Customer.class, ada.id).orders.size());
        String list = "SELECT o FROM Order o WHERE o.id IN :ids";
        assertEquals(2, manager.createQuery(list).setParameter("ids", List.of(first.id, second.id)).getResultList().size());
        String of = "SELECT o FROM Order o WHERE o.customer.id = :id";
        assertEquals(2, manager.createQuery(of).setParameter("id", ada.id).getResultList().size());
        assertSame(manager.find(Jpa.Order.class, first.id), manager.find(Jpa.Order.class, first.id.toLowerCase()));
        manager.getTransaction().begin();
        Jpa.Order changed = new Jpa.Order();
        changed.id = second.id;
        changed.note = "changed";
        manager.merge(changed);
        manager.getTransaction().commit();
        forget();
        assertEquals("changed", manager.find(Jpa.Order.class, second.id).note);
        assertNull(manager.find(Jpa.Order.class, second.id).customer);
        String within = "SELECT * FROM orders WHERE id <@ tstzrange(now() - interval '1 hour', now() + interval '1 hour')";
        assertEquals(2, manager.createNativeQuery(within, Jpa.Order.class).getResultList().size());
        manager.getTransaction().begin();
        manager.remove(manager.find(Jpa.Order.class, first.id));
        manager.getTransaction().commit();
        assertNull(manager.find(Jpa.Order.class, first.id));
    }

    @Test public void theServerJudges() {
        int refused = 0;
        for (Object row : manager.createNativeQuery("SELECT note, given FROM sample.given").getResultList()) {
            Object[] sample = (Object[]) row;
            Jpa.Order order = new Jpa.Order();
            order.note = (String) sample[0];
            order.id = sample[1] == null ? Jpa.newId(manager) : (String) sample[1];
            manager.getTransaction().begin();
            try {
                manager.persist(order);
                manager.getTransaction().commit();
            } catch (PersistenceException error) {
                assertTrue(error.getMessage(), error.getMessage().contains("type ulid"));
                if (manager.getTransaction().isActive()) manager.getTransaction().rollback();
                manager.clear();
                refused++;
            }
        }
        assertTrue(refused > 20);
        assertEquals("equal", manager.createNativeQuery("SELECT sample.compare()").getSingleResult());
    }

    @Test public void createsTables() {
        StringWriter script = new StringWriter();
        Persistence.generateSchema("shop", Map.of("javax.persistence.schema-generation.scripts.action", "create",
            "javax.persistence.schema-generation.scripts.create-target", script,
            "javax.persistence.database-product-name", "PostgreSQL", "eclipselink.logging.level", "OFF"));
        assertTrue(script.toString(), script.toString().contains("CREATE TABLE orders (ID ulid"));
        assertTrue(script.toString(), script.toString().contains("customer_id ulid"));
    }

    @Test public void withoutTheConverterStringsNeedTheOption() {
        manager.getTransaction().begin();
        Jpa.Order first = store(null, "first");
        manager.getTransaction().commit();
        RuntimeException error = assertThrows(RuntimeException.class, () -> manager.find(Guess.class, first.id));
        assertTrue(error.getMessage(), error.getMessage().contains("operator does not exist: ulid = character varying"));
        EntityManager untyped = open("&stringtype=unspecified");
        assertEquals("first", untyped.find(Guess.class, first.id).note);
        untyped.getEntityManagerFactory().close();
    }
}
